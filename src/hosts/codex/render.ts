import type { HookInput, HookOutput, Rendered } from '../../runtime/index.ts';
import { type AnswerFormat, answerText, cutTo } from '../claude-format/index.ts';

/** The host cuts longer text in the middle. */
export const contextCharacters = 9000;

/** Our own tools need no permission: their annotations say what they do. */
const format: AnswerFormat = { contextCharacters, held: 'decision', allows: false, survives: false };

export function render({ kind, session }: HookInput, output: HookOutput): Rendered {
  if (kind !== 'wake') return { stdout: answerText(format, kind, output), exitCode: 0 };
  if (output.wake === undefined) return { stdout: '', exitCode: 0 };
  // A hook cannot start a turn; a message for the thread does, as soon as it is idle.
  const message = cutTo(contextCharacters, output.wake);
  return {
    stdout: '',
    exitCode: 0,
    start: ['codex', 'queue', '--thread', session, '--message', message],
  };
}
