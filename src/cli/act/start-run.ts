import type { LocalRuntime, StartRequest } from '../../runtime/index.ts';
import { callerOf } from '../caller.ts';
import type { Io } from '../io.ts';
import { printAnswer, type RunValues } from '../perform.ts';

/** Starts a run, or resumes the live one that was started with the same arguments. */
export async function startRun(
  runtime: LocalRuntime,
  request: StartRequest,
  io: Io,
  values: RunValues,
): Promise<number> {
  const answer = await runtime.start(request, callerOf(io));
  if (answer.restored && request.run === undefined)
    io.stderr.write(`Resumed ${answer.run}, which was started with the same arguments.\n`);
  return await printAnswer(answer, io, values, runtime);
}
