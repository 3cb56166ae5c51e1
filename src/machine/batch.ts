import type { Caller, Definition, Event, EventType, Owner } from '../schema/index.ts';
import { Draft } from './draft.ts';
import { apply, settled } from './evolve.ts';
import { formatHandle } from './handle.ts';
import { authorOf } from './ownership.ts';
import type { Cursor, State } from './state.ts';

type Unstamped<T extends EventType> = T extends EventType
  ? Omit<Extract<Event, { type: T }>, 'now' | 'type'>
  : never;

/** The events of one command. Each event is folded into `state` at once, so that later decisions see it. */
export class Batch {
  readonly definition: Definition;
  readonly caller: Caller;
  readonly events: Event[] = [];
  /** The same call was accepted before. */
  replayed = false;
  /** Nothing that the command says was kept, because its position waits. */
  ignored = false;
  /** The session that did the work; with gates and reviews it is not the caller. */
  worker: string | undefined;
  /** The principal that did the work, likewise. */
  author: Owner | undefined;
  readonly #draft: Draft;

  constructor(definition: Definition, state: State | null, caller: Caller) {
    this.definition = definition;
    this.#draft = new Draft(state);
    this.caller = caller;
    this.worker = caller.session;
    this.author = authorOf(state, caller);
  }

  get now(): number {
    return this.caller.now;
  }

  get state(): State {
    return this.#draft.root;
  }

  emit<T extends EventType>(type: T, event: Unstamped<T>): void {
    // `event` has the fields of this type, which TypeScript cannot follow.
    const stamped = { type, ...event, now: this.now } as unknown as Event;
    apply(this.definition, this.#draft, stamped);
    this.events.push(stamped);
  }

  settled(): State {
    return settled(this.definition, this.#draft, this.now);
  }

  at(cursor: Cursor): string {
    return formatHandle(this.state.run, cursor.path, cursor.visit);
  }
}

/** A copy without undefined fields. Stored events must not contain such keys. */
export function defined<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
