import type { HookInput, HookOutput, Rendered } from '../../runtime/index.ts';
import { cutTo } from '../claude-format/index.ts';

/** Measured: what is longer arrives cut. */
export const contextCharacters = 9000;

/** One JSON object, or nothing. The exit code is 0: with any other one the program shows an error. */
export function render(_: HookInput, { context, deny, block, survive, say, stop }: HookOutput): Rendered {
  const answer = {
    inject: context && cutTo(contextCharacters, context),
    deny,
    go_on: block,
    keep: survive,
    show: say,
    reply: stop,
  };
  const isEmpty = Object.values(answer).every((part) => part === undefined);
  return { stdout: isEmpty ? '' : JSON.stringify(answer), exitCode: 0 };
}
