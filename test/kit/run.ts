import { expect } from 'vitest';
import {
  type Command,
  type Definition,
  type Effect,
  type Event,
  gateText,
  type Refusal,
  replay,
  respond,
  type State,
  type Status,
  type Step,
} from '../../src/machine/index.ts';

type Without<T, K extends string> = T extends unknown ? Omit<T, K> : never;
type Sent = Without<Command, 'now'> & { now?: number };
type Extras = { at?: string; session?: string; tree?: string; now?: number };

/** A run in memory for tests: sends commands as an agent, keeps every event, answers and effects. */
export class Run {
  readonly definition: Definition;
  readonly events: Event[] = [];
  effects: Effect[] = [];
  /** The events of the last command. */
  last: Event[] = [];
  now = 1_000_000;
  #state: State | null = null;

  constructor(definition: Definition, options: { start?: boolean; session?: string } = {}) {
    this.definition = definition;
    if (options.start === false) return;
    this.send({
      type: 'start',
      run: 'demo-20261115-k3f9x2ab',
      ...(options.session ? { session: options.session } : {}),
    });
  }

  get state(): State {
    if (!this.#state) throw new Error('the run has not started');
    return this.#state;
  }

  send(command: Sent): Partial<Status> & Partial<Refusal> & { replayed?: true } {
    // The parts are those of one command; only `now` is filled in.
    const stamped = { now: this.now, ...command } as Command;
    const response = respond(this.definition, this.#state, stamped);
    this.#state = response.state;
    this.last = response.events;
    this.events.push(...response.events);
    this.effects = response.effects;
    if (this.#state) expect(replay(this.definition, null, this.events)).toEqual(this.#state);
    return response.reply;
  }

  advance(
    output = `output ${this.events.length}`,
    extras: Extras & { runnerAlive?: boolean; missing?: string[] } = {},
  ) {
    return this.send({ type: 'advance', output, ...extras });
  }

  status(extras: Extras & { runnerAlive?: boolean } = {}) {
    return this.send({ type: 'status', ...extras });
  }

  tasks(loop: string, ...ids: (string | [id: string, ...dependsOn: string[]])[]) {
    const tasks = ids.map((entry) => {
      const [id, ...depends_on] = typeof entry === 'string' ? [entry] : entry;
      return { id, title: `Task ${id}`, ...(depends_on.length > 0 ? { depends_on } : {}) };
    });
    return this.send({ type: 'setTasks', loop, tasks });
  }

  claim(holder: string, task?: string) {
    return this.send({ type: 'claim', holder, session: holder, ...(task ? { task } : {}) });
  }

  /** Answers the running gates of the only (or the given) position: all green, or red where `red` names the command. */
  gates(options: Extras & { red?: string | boolean; unstable?: string[] } = {}) {
    const { at, red, ...extras } = options;
    const checking = Object.values(this.state.cursors).find(
      (cursor) => cursor.checking && (at === undefined || at.endsWith(`:${cursor.path}#${cursor.visit}`)),
    )?.checking;
    if (!checking) throw new Error('no gates are running');
    const receipts = checking.gates.map(({ gate }, index) => {
      return { gate: index, pass: red !== true && red !== gateText(gate) };
    });
    return this.engine({ type: 'gatesFinished', id: checking.id, receipts, ...extras });
  }

  engine(command: Without<Sent, 'actor'>) {
    // Adding an actor leaves the command what it was.
    return this.send({ ...command, actor: { kind: 'engine' } } as Sent);
  }

  person(command: Without<Sent, 'actor'>) {
    // Adding an actor leaves the command what it was.
    return this.send({ ...command, actor: { kind: 'person', name: 'ann' } } as Sent);
  }

  witness(session: string, witness: 'hooks' | 'wrapper' | 'driver' = 'hooks') {
    return this.send({ type: 'session', session, event: { type: 'started', witness } });
  }

  types(): string[] {
    return this.last.map((event) => event.type);
  }
}

export const action = (id: string, parts: Partial<Step> = {}): Step => ({
  id,
  type: 'action',
  instructions: `Do ${id}`,
  ...parts,
});

export const ralph = (id: string, n: number, parts: Partial<Step> = {}): Step => ({
  id,
  type: 'ralph',
  n,
  instructions: `Improve ${id}`,
  ...parts,
});

export const loop = (id: string, parts: Partial<Step> = {}): Step => ({
  id,
  type: 'loop',
  loop: id,
  ...parts,
});

export const workflow = (steps: Step[], parts: Partial<Definition> = {}): Definition => ({
  name: 'demo',
  description: 'A workflow for a test',
  steps,
  ...parts,
});

/** The first cursor, in most tests the only one. */
export const cursor = (run: Run) => Object.values(run.state.cursors)[0];
