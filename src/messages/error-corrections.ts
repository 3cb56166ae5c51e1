import { commandName } from '../command-name.ts';
import { capitalized } from './text.ts';
import type { Voice } from './voice.ts';

/** The correction for each error that a caller can cause and fix; the error has its own message. */
export const corrections = {
  no_workflow: (voice: Voice) => voice.workflows(),
  invalid_workflow: () => `Fix it; ${commandName()} validate shows every error.`,
  not_writable: 'Run Stepfast in a writable directory.',
  no_worktree: 'Fix the problem, or work on the tasks with one agent.',
  key_reused: 'Use a new key for each call, and the same key only to repeat the same call.',
  busy: 'Send the same call again.',
  store_failed: 'Send the same call again, with the same handle.',
  server_unreachable: 'Send the same call again, with the same handle.',
  server_failed:
    'Send the same call again, with the same handle. If it fails again, ask a person to check the server log.',
  store_forked: (voice: Voice) => voice.askPerson(`${commandName()} repair`),
  store_newer: 'Update Stepfast.',
  state_too_large: 'Ask a person to cancel it, then start another run for the remaining work.',
  quota_exceeded: 'Ask a person to delete runs, or the operator of the server for a higher quota.',
  server_refused: (voice: Voice) => voice.askPerson(`${commandName()} login`),
  other_server: (voice: Voice) => voice.askPerson(`${commandName()} login`),
};

/** The message of an error that names its own correction, as a server's does: `It is full. Next: delete runs.` */
export function splitNext(message: string): [message: string, next?: string] {
  const at = message.lastIndexOf(mark);
  return at === -1 ? [message] : [message.slice(0, at), capitalized(message.slice(at + mark.length))];
}

const mark = ' Next: ';

export type CorrectableError = keyof typeof corrections;
