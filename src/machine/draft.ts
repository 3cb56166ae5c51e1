import type { State, Task } from './state.ts';

type Container = {
  [K in keyof State]-?: NonNullable<State[K]> extends readonly unknown[] | Record<string, unknown>
    ? K
    : never;
}[keyof State];

/** A state under change: the root is a copy, each container is copied the first time it is edited. */
export class Draft {
  root: State;
  readonly #copied = new Set<object>();

  constructor(state: State | null) {
    // The first event of a run replaces the root.
    this.root = (state === null ? {} : { ...state }) as State;
  }

  edit<K extends Container>(key: K): State[K] {
    this.root[key] = this.#copy(this.root[key]);
    return this.root[key];
  }

  editTasks(loop: string): Record<string, Task> {
    const lists = this.edit('tasks');
    const list = this.#copy(lists[loop] ?? { order: [], byId: {} });
    lists[loop] = list;
    list.byId = this.#copy(list.byId);
    return list.byId;
  }

  #copy<T extends object | undefined>(value: T): T {
    if (value === undefined || this.#copied.has(value)) return value;
    // A shallow copy of an array or a plain record is of the same type.
    const copy = (Array.isArray(value) ? [...value] : { ...value }) as T & object;
    this.#copied.add(copy);
    return copy;
  }
}
