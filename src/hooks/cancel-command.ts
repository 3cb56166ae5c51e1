import { terminalCommand } from '../messages/index.ts';
import type { Host } from '../runtime/index.ts';

/** How a person ends the run of a session: in a terminal, where the host does not tell who types. */
export const cancelCommand = ({ typed }: Host): string =>
  typed ? '/stepfast:cancel' : terminalCommand('cancel');
