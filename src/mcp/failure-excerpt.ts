import { failureLines } from '../context/index.ts';
import { lastWithin } from '../messages/index.ts';

/** What an output says of a failure, within a number of tokens: the lines around what failed, else its end. */
export function tellingLines(output: string, tokens: number): string {
  const end = lastWithin(output, tokens);
  return end === output.trimEnd() ? end : lastWithin(failureLines(output), tokens);
}
