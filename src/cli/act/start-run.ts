import type { LocalRuntime, StartRequest } from '../../runtime/index.ts';
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
  return await printAnswer(answer, io, values, runtime);
}
