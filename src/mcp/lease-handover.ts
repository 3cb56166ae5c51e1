import { formatHandle, parseHandle } from '../machine/index.ts';
import { type Answer, isRefused } from '../runtime/index.ts';
import type { Caller, ToolRuntime } from './tool-runtime.ts';

/** A position that somebody else's lease covers, and whose exact handle the caller has. */
export interface Held {
  run: string;
  key: string;
  holder: string;
}

/** Whoever has the handle of a claimed task may go on with it: a server that was started anew has another session. */
export async function heldBySomebody(
  runtime: ToolRuntime,
  at: string | undefined,
  session: string,
): Promise<Held | undefined> {
  const [step, task, subStep] = (at === undefined ? undefined : parseHandle(at))?.path.split('/') ?? [];
  if (subStep === undefined) return undefined;
  const found = await runtime.which({ at });
  if (!('run' in found)) return undefined;
  const key = `${step}/${task}`;
  const cursor = (await runtime.engine.view(found.run))?.state.cursors[key];
  const holder = cursor?.lease?.holder;
  if (!cursor || holder === undefined || holder === session) return undefined;
  // A handle of before, or a guess, is nobody's.
  return formatHandle(found.run, cursor.path, cursor.visit) === at
    ? { run: found.run, key, holder }
    : undefined;
}

/** The answer about the position as its holder gets it, once the call itself was taken. */
export async function asHolder(
  runtime: ToolRuntime,
  { who, options }: Caller,
  answer: Answer,
  { run, key, holder }: Held,
): Promise<Answer> {
  const { reply } = answer;
  if (isRefused(reply) || reply.at !== undefined) return answer;
  const cursor = (await runtime.engine.view(run))?.state.cursors[key];
  if (cursor?.lease?.holder !== holder) return answer;
  const at = formatHandle(run, cursor.path, cursor.visit);
  const own = await runtime.call({ type: 'status', at }, { ...who, session: holder }, { ...options, run });
  // What is due is the caller's: the holder may have had it.
  return { ...answer, ...own, due: answer.due ?? [] };
}
