import { type Answer, type AnsweredStatus, isRefused } from '../../src/runtime/index.ts';

/** The status that a call returned. Throws for a refusal. */
export function told({ reply }: Answer): AnsweredStatus {
  if (isRefused(reply)) throw new Error(`refused: ${JSON.stringify(reply)}`);
  return reply;
}
