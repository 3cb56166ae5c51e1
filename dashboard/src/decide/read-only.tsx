import type { JSX } from 'react';
import ui from '../ui/ui.module.css';

/** Says why commands stand where the controls would be. */
export const ReadOnlyReason = (): JSX.Element => (
  <p className={ui.soft}>This page only reads, because it was not started by a person at a terminal.</p>
);
