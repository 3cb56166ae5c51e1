import { nextForTools, statusText, type ToolCall } from '../messages/index.ts';
import { type Answer, type CallerIdentity, isRefused, type Refused, type Runtime } from '../runtime/index.ts';
import type { Loaded } from '../store/index.ts';
import { moreWords } from './context.ts';
import { type StatusAnswer, statusAnswer } from './status-answer.ts';

/** The runtime's answer for a tool call, with the next action. */
export async function answered(
  runtime: Runtime,
  answer: Answer,
  known: CallerIdentity & { session: string; named?: boolean },
): Promise<{ structured: StatusAnswer } | { refused: Refused }> {
  const { reply, ignored = false, beaten, restored, due = [] } = answer;
  if (isRefused(reply)) return { refused: reply };
  const warning = answer.warning ?? keptWarning(answer.kept);
  // A pending context action would discard artifacts that are loaded now.
  const brings = due.length > 0 && reply.instructions !== undefined;
  const repeats = reply.replayed && !known.named && beaten === undefined;
  const view = repeats || brings ? (answer.view ?? (await runtime.engine.view(reply.run))) : undefined;
  const call: ToolCall = {
    ignored,
    gatesElsewhere: !runtime.workspace.hasFiles,
    ...(repeats ? { repeatOf: repeatedAt(view) } : {}),
    ...(beaten === undefined ? {} : { beaten }),
  };
  const worktree = answer.worktree ?? runtime.workspace.taskWorktree(reply.run, reply.task?.id);
  const artifacts =
    view && brings ? await runtime.briefings.renderDue(view, known, due, moreWords) : undefined;
  const around = {
    ...(worktree === undefined ? {} : { worktree }),
    ...(warning === undefined ? {} : { warning }),
    ...(restored ? { restored } : {}),
    ...(artifacts === undefined ? {} : { artifacts }),
  };
  const text = statusText(reply, (action) => nextForTools(action, call));
  return { structured: statusAnswer(text, around) };
}

/** The handle of the call that this one repeats. */
function repeatedAt(view: Loaded | undefined): string {
  const last = view?.state.last;
  const at = last?.kind === 'advance' ? view?.state.outputs[last.key]?.at : undefined;
  return at ?? 'the position before';
}

const keptWarning = (kept: Answer['kept']): string | undefined =>
  kept &&
  `Not changed: ${kept.map(({ id, title, end = 'started' }) => `${id} (${title}) is ${end}`).join(', ')}`;
