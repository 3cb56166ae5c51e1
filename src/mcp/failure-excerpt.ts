import { failureLines } from '../context/index.ts';
import { lastWithin } from '../messages/index.ts';

/** The lines of an output around the failure, else its end, within a number of tokens. */
export function failureExcerpt(output: string, tokens: number): string {
  const end = lastWithin(output, tokens);
  return end === output.trimEnd() ? end : lastWithin(failureLines(output), tokens);
}
