import { type Answer, isRefused, type Refused, type Runtime, taskWorktree } from '../runtime/index.ts';
import { type Known, needsView, nextCall } from './next-call.ts';
import { type StatusAnswer, statusAnswer } from './status-answer.ts';

/** The runtime's answer as the tools give it, with what to call next. */
export async function answered(
  runtime: Runtime,
  answer: Answer,
  known: Pick<Known, 'session' | 'named'>,
): Promise<{ structured: StatusAnswer } | { refused: Refused }> {
  const { reply, ignored = false, warning, restored } = answer;
  if (isRefused(reply)) return { refused: reply };
  const view = needsView(reply) ? await runtime.engine.view(reply.run) : undefined;
  const next = nextCall(reply, { ...known, ignored, view });
  const worktree = answer.worktree ?? taskWorktree(runtime.project, reply.run, reply.task?.id);
  const around = {
    ...(worktree === undefined ? {} : { worktree }),
    ...(warning === undefined ? {} : { warning }),
    ...(restored ? { restored } : {}),
  };
  return { structured: statusAnswer({ ...reply, next }, around) };
}
