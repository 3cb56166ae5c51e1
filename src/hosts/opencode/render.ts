import type { HookInput, HookOutput, Rendered } from '../../runtime/index.ts';
import { cutTo } from '../claude-format/index.ts';

/** OpenCode passes on any length: this is what a briefing may cost. */
export const contextCharacters = 9000;

/** The plugin reads the output as it is. */
export function render({ kind }: HookInput, output: HookOutput): Rendered {
  const { allow: _, block, ...rest } = output;
  const within = Object.entries({ ...rest, ...(kind === 'subagent_stop' ? {} : { block }) }).flatMap(
    ([key, value]) => {
      if (value === undefined) return [];
      return [[key, typeof value === 'string' ? cutTo(contextCharacters, value) : value]];
    },
  );
  return { stdout: within.length === 0 ? '' : JSON.stringify(Object.fromEntries(within)), exitCode: 0 };
}
