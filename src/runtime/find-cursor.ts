import { type Cursor, cursorAt, handleOf, parseHandle, type State } from '../machine/index.ts';
import type { AnsweredStatus } from './answer.ts';

/** The session that did the work under review. */
export function workerOf(state: State, at: string | undefined): string | undefined {
  const waiting = Object.values(state.cursors)
    .filter((cursor) => at === undefined || handleOf(state, cursor) === at)
    .flatMap((cursor) => (cursor.waiting?.kind === 'review' ? [cursor.waiting] : []));
  return waiting.length === 1 ? waiting[0]?.session : undefined;
}

/** The handle of the only task that the caller holds. */
export function onlyHeldHandle(
  { held = [] }: AnsweredStatus,
  session: string | undefined,
): string | undefined {
  const mine = held.filter(({ holder }) => session !== undefined && holder === session);
  return mine.length === 1 ? mine[0]?.at : undefined;
}

/** The task that a handle names. */
export function taskAt(at: string | undefined): string | undefined {
  const [, task, subStep] = (at === undefined ? undefined : parseHandle(at))?.path.split('/') ?? [];
  return subStep === undefined ? undefined : task;
}

/** The position of the handle, otherwise the current position of its task, or the caller's only open one. */
export function cursorFor(
  { state }: { state: State },
  { at, session }: { at?: string | undefined; session?: string | undefined },
): Cursor | undefined {
  const cursors = Object.values(state.cursors);
  const exact = cursorAt(state, at);
  if (exact) return exact;
  const own = cursors.filter(({ lease }) => lease === undefined || lease.holder === session);
  const [step, task] = (at === undefined ? undefined : parseHandle(at))?.path.split('/') ?? [];
  const same = own.find((each) => each.step === step && each.task === task);
  return same ?? (own.length === 1 ? own[0] : undefined);
}
