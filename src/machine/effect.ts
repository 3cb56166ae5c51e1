import type { Event, RequestedGate, Text } from '../schema/index.ts';
import type { Checking, State } from './state.ts';

/** A side effect that the machine requests. Its result comes back as a command. */
export type Effect =
  | { type: 'runGates'; id: string; at: string; gates: RequestedGate[]; deadline: number; session?: string }
  | { type: 'stopGates'; id: string; runner?: NonNullable<Checking['runner']> }
  | { type: 'cleanUp' }
  | { type: 'readTasks'; at: string; step: string; session?: string }
  | { type: 'writeTodo'; content: Text };

/** The effects of a batch, given the states before and after it. */
export function effectsOf(before: State | null, events: readonly Event[], after: State): Effect[] {
  const effects: Effect[] = [];
  const running = new Set(checkingIn(after).map(({ id }) => id));
  const finished = new Set(events.flatMap((event) => (event.type === 'gates.finished' ? [event.id] : [])));
  for (const { id, runner } of before ? checkingIn(before) : []) {
    if (!running.has(id) && !finished.has(id))
      effects.push({ type: 'stopGates', id, ...(runner ? { runner } : {}) });
  }
  for (const event of events) {
    if (event.type === 'gates.requested' && running.has(event.id)) effects.push(runGates(event.at, event));
    if (event.type === 'todo.replaced') effects.push({ type: 'writeTodo', content: event.content });
  }
  return effects;
}

const checkingIn = (state: State): Checking[] =>
  Object.values(state.cursors).flatMap((cursor) => cursor.checking ?? []);

export const runGates = (at: string, { id, gates, deadline, session }: Checking): Effect => ({
  type: 'runGates',
  id,
  at,
  gates,
  deadline,
  ...(session === undefined ? {} : { session }),
});
