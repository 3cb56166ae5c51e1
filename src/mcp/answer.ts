import { nextForTools, statusText, type ToolCall } from '../messages/index.ts';
import { type Answer, isRefused, type Refused, type Who } from '../runtime/index.ts';
import { moreWords } from './context.ts';
import { type StatusAnswer, statusAnswer } from './status-answer.ts';
import type { ToolRuntime } from './tool-runtime.ts';

/** The runtime's answer as the tools give it, with what to call next. */
export async function answered(
  runtime: ToolRuntime,
  answer: Answer,
  known: Who & { session: string; named?: boolean },
): Promise<{ structured: StatusAnswer } | { refused: Refused }> {
  const { reply, ignored = false, restored, due = [] } = answer;
  if (isRefused(reply)) return { refused: reply };
  const warning = answer.warning ?? keptWarning(answer.kept);
  const call: ToolCall = {
    ignored,
    gatesElsewhere: runtime.tree === undefined,
    ...(reply.replayed && !known.named ? { repeatOf: await repeatedAt(runtime, reply.run) } : {}),
  };
  const worktree = answer.worktree ?? runtime.tree?.ofTask(reply.run, reply.task?.id);
  // With a context action still to come, what is brought now would be lost with it.
  const brings = due.length > 0 && reply.instructions !== undefined;
  const artifacts = brings ? await runtime.memory.bring(reply.run, known, due, moreWords) : undefined;
  const around = {
    ...(worktree === undefined ? {} : { worktree }),
    ...(warning === undefined ? {} : { warning }),
    ...(restored ? { restored } : {}),
    ...(artifacts === undefined ? {} : { artifacts }),
  };
  const text = statusText(reply, (action) => nextForTools(action, call));
  return { structured: statusAnswer(text, around) };
}

/** The handle of the call that this one was taken for a repeat of. */
async function repeatedAt({ engine }: ToolRuntime, run: string): Promise<string> {
  const state = (await engine.view(run))?.state;
  const last = state?.last;
  const at = last?.kind === 'advance' ? state?.outputs[last.key]?.at : undefined;
  return at ?? 'the position before';
}

const keptWarning = (kept: Answer['kept']): string | undefined =>
  kept &&
  `Not changed: ${kept.map(({ id, title, end = 'started' }) => `${id} (${title}) is ${end}`).join(', ')}`;
