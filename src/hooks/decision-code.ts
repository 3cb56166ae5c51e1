import type { Cursor } from '../machine/index.ts';
import { short } from './session-files.ts';

/** Names what a person decides, as it was shown: another request has another code. */
export const decisionCode = (run: string, { path, visit, waiting }: Cursor): string =>
  short([run, path, visit, waiting?.since]).slice(0, 4);
