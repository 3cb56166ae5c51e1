import { type Action, type Cursor, formatHandle, type State } from '../../src/machine/index.ts';

export class Broken extends Error {}

export function must(holds: boolean, what: string): void {
  if (!holds) throw new Broken(what);
}

export function handlesIn(action: Action): string[] {
  if (action.do === 'claim') return [...action.own, ...action.decisions.flatMap(({ at }) => at ?? [])];
  return 'at' in action && action.at !== undefined ? [action.at].flat() : [];
}

export const handleOf = (state: State, cursor: Cursor): string =>
  formatHandle(state.run, cursor.path, cursor.visit);

export function cursorAt(state: State, at: string): Cursor {
  const cursor = Object.values(state.cursors).find((candidate) => handleOf(state, candidate) === at);
  if (!cursor) throw new Broken(`${at} is open`);
  return cursor;
}
