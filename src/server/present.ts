import type { Executed } from '../engine/index.ts';
import { asLine, nextForShell, refusalText, shellVoice, statusText } from '../messages/index.ts';

/** The answer of the HTTP API to a call: the data, and sentences for people who call it by hand. */
export const presented = (executed: Omit<Executed, 'view'>): object => {
  const { reply } = executed;
  return {
    ...executed,
    reply:
      'code' in reply
        ? { ...reply, ...refusalText(reply, shellVoice()) }
        : statusText(reply, (action) => asLine(nextForShell(action))),
  };
};
