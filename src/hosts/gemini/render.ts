import type { HookInput, HookKind, HookOutput, Rendered } from '../../runtime/index.ts';
import { cutTo } from '../claude-format/index.ts';

/** The host sets no limit; longer briefings cost more than they tell. */
export const contextCharacters = 9000;

const eventOf: Readonly<Partial<Record<HookKind, string>>> = {
  session_start: 'SessionStart',
  prompt: 'BeforeAgent',
  after_tool: 'AfterTool',
};

/** Exit 0 and nothing but JSON: 2 blocks, and the person is shown any other text. */
export function render({ kind }: HookInput, output: HookOutput): Rendered {
  const json = answerTo(kind, output);
  return { stdout: Object.keys(json).length === 0 ? '' : JSON.stringify(json), exitCode: 0 };
}

function answerTo(kind: HookKind, { context, deny, block, say, stop }: HookOutput): object {
  const common = say === undefined ? {} : { systemMessage: say };
  if (stop !== undefined) return { ...common, continue: false, stopReason: stop, reason: stop };
  if (kind === 'before_tool' && deny !== undefined) return { ...common, decision: 'deny', reason: deny };
  // A response that is denied is followed by another one, with the reason as its prompt.
  if (kind === 'stop' && block !== undefined) return { ...common, decision: 'deny', reason: block };
  const hookEventName = eventOf[kind];
  if (hookEventName === undefined || context === undefined) return common;
  const additionalContext = cutTo(contextCharacters, context);
  return { ...common, hookSpecificOutput: { hookEventName, additionalContext } };
}
