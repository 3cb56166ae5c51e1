import type { HookInput, HookKind, HookOutput, Rendered } from '../../runtime/index.ts';
import { cutTo } from '../claude-format/index.ts';

/** After a tool the host cuts what all hooks say together at about 10,000 characters. */
export const contextCharacters = 9000;

/** Where exit 2 shows stderr to the person and changes nothing else. Before a tool it would deny it. */
const shows: readonly HookKind[] = ['session_start', 'prompt', 'stop'];

/** There is no way to start a turn of an idle session. */
export function render(input: HookInput, output: HookOutput): Rendered {
  const { say, ...rest } = output;
  const isShown = say !== undefined && rest.block === undefined && shows.includes(input.kind);
  const answer = answerFor(input, isShown ? rest : output);
  const stdout = Object.keys(answer).length === 0 ? '' : JSON.stringify(answer);
  return isShown ? { stdout, stderr: `${say}\n`, exitCode: 2 } : { stdout, exitCode: 0 };
}

function answerFor(
  { kind, tool }: HookInput,
  { context, deny, allow, block, stop, say }: HookOutput,
): object {
  if (kind === 'prompt' && stop !== undefined) return { decision: 'block', reason: stop };
  if (kind === 'stop' || kind === 'subagent_stop')
    return block === undefined ? {} : { decision: 'block', reason: cutTo(contextCharacters, block) };
  if (kind === 'before_compact' || kind === 'session_end' || kind === 'wake') return {};
  // The answer to a request for a permission; before the tool, the host ignores that it is allowed.
  if (allow && tool?.name.includes('/')) return { behavior: 'allow' };
  const told = [context, say === undefined ? undefined : `For the user: ${say}`].filter(Boolean).join('\n\n');
  return {
    ...(deny === undefined ? {} : { permissionDecision: 'deny', permissionDecisionReason: deny }),
    ...(told === '' ? {} : { additionalContext: cutTo(contextCharacters, told) }),
  };
}
