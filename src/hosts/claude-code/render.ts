import type { HookInput, HookOutput, Rendered } from '../../runtime/index.ts';
import { type AnswerFormat, answerText, cutTo } from '../claude-format/index.ts';

/** The host replaces longer text by a preview of 2 KB and a file. */
export const contextCharacters = 9000;

// A blocked stop would be shown to the person as an error.
const format: AnswerFormat = { contextCharacters, held: 'feedback', allows: true, survives: true };

/** Exit 0 unless it wakes the session: any other status shows an error to the person, and 2 blocks. */
export function render({ kind }: HookInput, output: HookOutput): Rendered {
  if (kind !== 'wake') return { stdout: answerText(format, kind, output), exitCode: 0 };
  // The host starts a turn with the text of an asynchronous hook that exits with 2.
  return output.wake === undefined
    ? { stdout: '', exitCode: 0 }
    : { stdout: '', stderr: cutTo(contextCharacters, output.wake), exitCode: 2 };
}
