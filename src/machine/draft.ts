import type { Task } from '../schema/index.ts';
import { cursorKey, parseHandle } from './handle.ts';
import { own, put } from './own-property.ts';
import type { Boundary, Checking, Cursor, Session, State } from './state.ts';

type Container = {
  [K in keyof State]-?: NonNullable<State[K]> extends readonly unknown[] | Record<string, unknown>
    ? K
    : never;
}[keyof State];

/** A state that is being changed. The root is a copy; each container is copied on its first edit. */
export class Draft {
  root: State;
  readonly #copied = new Set<object>();

  constructor(state: State | null) {
    // The first event of a run replaces the empty root.
    this.root = (state === null ? {} : { ...state }) as State;
  }

  edit<K extends Container>(key: K): State[K] {
    this.root[key] = this.#copy(this.root[key]);
    return this.root[key];
  }

  /** Throws on a damaged journal: events name open positions only. */
  cursorAt(at: string): Cursor {
    const parsed = parseHandle(at);
    const cursor = Object.values(this.root.cursors).find(
      ({ path, visit }) => path === parsed?.path && visit === parsed.visit,
    );
    if (!cursor) throw new RangeError(`no open position ${at}`);
    return cursor;
  }

  editCursor(at: string, change: (cursor: Cursor) => Cursor): void {
    const cursor = this.cursorAt(at);
    this.edit('cursors')[cursorKey(cursor)] = change(cursor);
  }

  editBoundary(at: string, change: (boundary: Boundary) => Boundary): void {
    this.editCursor(at, (cursor) =>
      cursor.boundary ? { ...cursor, boundary: change(cursor.boundary) } : cursor,
    );
  }

  editChecking(id: string, change: (cursor: Cursor, checking: Checking) => Cursor): void {
    const cursor = Object.values(this.root.cursors).find(({ checking }) => checking?.id === id);
    if (!cursor?.checking) throw new RangeError(`no running gates ${id}`);
    this.edit('cursors')[cursorKey(cursor)] = change(cursor, cursor.checking);
  }

  editTask(loop: string, id: string, change: (task: Task) => Task): void {
    const lists = this.edit('tasks');
    const found = own(lists, loop);
    const task = own(found?.byId, id);
    if (!found || !task) return;
    const list = this.#copy(found);
    lists[loop] = list;
    list.byId = this.#copy(list.byId);
    list.byId[id] = change(task);
  }

  editSession(id: string | undefined, change: (session: Session) => Session): void {
    const session = id === undefined ? undefined : own(this.root.sessions, id);
    if (id !== undefined && session) put(this.edit('sessions'), id, change(session));
  }

  #copy<T extends object | undefined>(value: T): T {
    if (value === undefined || this.#copied.has(value)) return value;
    // A shallow copy of an array or a plain record is of the same type.
    const copy = (Array.isArray(value) ? [...value] : { ...value }) as T & object;
    this.#copied.add(copy);
    return copy;
  }
}
