import { type Known, needsView, nextCall } from '../messages/index.ts';
import { type Answer, isRefused, type Refused, type Runtime, type Who } from '../runtime/index.ts';
import { moreWords } from './context.ts';
import { type StatusAnswer, statusAnswer } from './status-answer.ts';

/** The runtime's answer as the tools give it, with what to call next. */
export async function answered(
  runtime: Runtime,
  answer: Answer,
  known: Pick<Known, 'session' | 'named'> & Who,
): Promise<{ structured: StatusAnswer } | { refused: Refused }> {
  const { reply, ignored = false, restored, due = [] } = answer;
  if (isRefused(reply)) return { refused: reply };
  const warning = answer.warning ?? keptWarning(answer.kept);
  // With a context action still to come, what is brought now would be lost with it.
  const brings = due.length > 0 && reply.instructions !== undefined;
  const view =
    needsView(reply) || brings ? (answer.view ?? (await runtime.engine.view(reply.run))) : undefined;
  const next = nextCall(reply, { ...known, ignored, view, treeless: !runtime.workspace.hasFiles });
  const worktree = answer.worktree ?? runtime.workspace.taskWorktree(reply.run, reply.task?.id);
  const artifacts = view && brings ? await runtime.memory.bring(view, known, due, moreWords) : undefined;
  const around = {
    ...(worktree === undefined ? {} : { worktree }),
    ...(warning === undefined ? {} : { warning }),
    ...(restored ? { restored } : {}),
    ...(artifacts === undefined ? {} : { artifacts }),
  };
  return { structured: statusAnswer({ ...reply, next }, around) };
}

const keptWarning = (kept: Answer['kept']): string | undefined =>
  kept &&
  `Not changed: ${kept.map(({ id, title, end = 'started' }) => `${id} (${title}) is ${end}`).join(', ')}`;
