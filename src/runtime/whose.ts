import { formatHandle, parseHandle, type State } from '../machine/index.ts';
import type { Told } from './answer.ts';

/** The session whose work waits for the verdict. */
export function workerOf(state: State, at: string | undefined): string | undefined {
  const waiting = Object.values(state.cursors)
    .filter((cursor) => at === undefined || formatHandle(state.run, cursor.path, cursor.visit) === at)
    .flatMap((cursor) => (cursor.waiting?.kind === 'review' ? [cursor.waiting] : []));
  return waiting.length === 1 ? waiting[0]?.session : undefined;
}

/** The handle of the only task that the caller holds. */
export function onlyHeld({ held = [] }: Told, session: string | undefined): string | undefined {
  const mine = held.filter(({ holder }) => session !== undefined && holder === session);
  return mine.length === 1 ? mine[0]?.at : undefined;
}

/** The task that a handle names. */
export function taskAt(at: string | undefined): string | undefined {
  const [, task, subStep] = (at === undefined ? undefined : parseHandle(at))?.path.split('/') ?? [];
  return subStep === undefined ? undefined : task;
}
