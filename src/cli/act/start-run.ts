import { type Answer, isRefused, type LocalRuntime, type StartRequest } from '../../runtime/index.ts';
import { callerOf } from '../caller.ts';
import type { Io } from '../io.ts';
import { printAnswer, type RunValues } from '../perform.ts';

/** Starts a run, or goes on with the live one that was started with the same words. */
export async function begin(
  runtime: LocalRuntime,
  request: StartRequest,
  io: Io,
  values: RunValues,
): Promise<number> {
  const answer = await runtime.start(request, callerOf(io));
  if (answer.restored && request.run === undefined)
    io.stderr.write(`Goes on with ${answer.run}, which was started with the same words.\n`);
  return await printAnswer({ ...answer, reply: withCommand(answer.reply, request) }, io, values, runtime);
}

/** What to type where an input is missing. */
function withCommand(reply: Answer['reply'], { workflow, summary }: StartRequest): Answer['reply'] {
  const missing =
    isRefused(reply) && reply.code === 'bad_input'
      ? / needs the input '([^']+)'/.exec(reply.message)?.[1]
      : undefined;
  if (missing === undefined || workflow === undefined) return reply;
  const about = summary === undefined ? '' : ` --summary ${JSON.stringify(summary)}`;
  return { ...reply, next: `stepfast start ${workflow}${about} --input ${missing}="..."` };
}
