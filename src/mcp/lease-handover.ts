import { formatHandle, parseHandle } from '../machine/index.ts';
import { type Answer, isRefused, type Runtime } from '../runtime/index.ts';
import type { Loaded } from '../store/index.ts';
import type { Caller } from './caller.ts';

/** A position leased by another session, for which the caller has the exact handle. */
export interface Held {
  run: string;
  key: string;
  holder: string;
}

/** Whether a handle belongs to a task, which can be claimed. */
export const isOfTask = (at: string | undefined): at is string =>
  at !== undefined && parseHandle(at)?.path.split('/')[2] !== undefined;

/** A caller with the handle of a claimed task can continue it, because a restarted server has another session. */
export function heldByOther({ run, state }: Loaded, at: string, session: string): Held | undefined {
  const key = parseHandle(at)?.path.split('/', 2).join('/') ?? '';
  const cursor = state.cursors[key];
  const holder = cursor?.lease?.holder;
  if (!cursor || holder === undefined || holder === session) return undefined;
  // A stale or guessed handle does not count.
  return formatHandle(run, cursor.path, cursor.visit) === at ? { run, key, holder } : undefined;
}

/** The answer that the holder would get, after the call was accepted. */
export async function asHolder(
  runtime: Runtime,
  { who, options }: Caller,
  answer: Answer,
  { run, key, holder }: Held,
): Promise<Answer> {
  const { reply } = answer;
  if (isRefused(reply) || reply.at !== undefined) return answer;
  const view = answer.view ?? (await runtime.engine.view(run));
  const cursor = view?.state.cursors[key];
  if (cursor?.lease?.holder !== holder) return answer;
  const at = formatHandle(run, cursor.path, cursor.visit);
  const own = await runtime.call({ type: 'status', at }, { ...who, session: holder }, { ...options, run });
  // `due` is the caller's own: the holder may have loaded it before.
  return { ...answer, ...own, due: answer.due ?? [] };
}
