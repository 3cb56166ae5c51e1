/** Runs that wait for each kind of decision, played through an engine over any store. */
import { loadWorkflowTemplateFromString } from '../../../src/definition/index.ts';
import type { Engine } from '../../../src/engine/index.ts';
import {
  type Command,
  type Definition,
  handleOf,
  type Reply,
  type State,
} from '../../../src/machine/index.ts';

type Each<C> = C extends unknown ? Omit<C, 'now'> & { now?: number } : never;
export type Sent = Each<Command>;

/** A run and what agents, drivers and people do to it. */
export interface Played {
  run: string;
  /** Throws if it is refused. */
  send(command: Sent): Promise<Reply>;
  /** As the engine: results of gates and of merges. */
  engine(command: Sent): Promise<Reply>;
  person(command: Sent): Promise<Reply>;
  state(): Promise<State>;
  /** The handle of the first position. */
  at(): Promise<string>;
  /** The gates that run end, with this output. */
  gates(result: 'green' | 'red', tail?: string, ms?: number): Promise<void>;
}

export interface Begun {
  summary?: string;
  inputs?: Record<string, string | number | boolean>;
  session?: string;
  /** Of the session. */
  facts?: { host?: string; witness?: 'hooks' | 'driver' };
  clock?(): number;
}

export async function begin(engine: Engine, definition: Definition, begun: Begun = {}): Promise<Played> {
  const { clock = Date.now, ...parts } = begun;
  const { run, reply } = await engine.begin(definition, { type: 'start', now: clock(), ...parts });
  if ('code' in reply) throw new Error(JSON.stringify(reply));
  const send = async (command: Sent): Promise<Reply> => {
    // Only `now` is filled in.
    const executed = await engine.execute(run, { now: clock(), ...command } as Command);
    if ('code' in executed.reply) throw new Error(`${command.type}: ${JSON.stringify(executed.reply)}`);
    return executed.reply;
  };
  const state = async (): Promise<State> => {
    const view = await engine.view(run);
    if (!view) throw new Error(`There is no run '${run}'.`);
    return view.state;
  };
  const asEngine = (command: Sent) => send({ ...command, actor: { kind: 'engine' } } as Sent);
  return {
    run,
    send,
    engine: asEngine,
    person: (command) => send({ ...command, actor: { kind: 'person', name: 'Grace' } } as Sent),
    state,
    async at() {
      const all = await state();
      const [first] = Object.values(all.cursors);
      if (!first) throw new Error('No position is open.');
      return handleOf(all, first);
    },
    async gates(result, tail = '', ms = 1200) {
      const checking = Object.values((await state()).cursors).find((cursor) => cursor.checking)?.checking;
      if (!checking) throw new Error('No gates are running.');
      const receipts = checking.gates.map((_, gate) => ({
        gate,
        pass: result === 'green',
        exit: result === 'green' ? 0 : 1,
        ms,
        tail,
      }));
      await asEngine({ type: 'gatesFinished', id: checking.id, receipts });
    },
  };
}

const load = (text: string): Definition => loadWorkflowTemplateFromString(text);

const feature = load(`
name: feature
description: Think, plan, build in tasks, close
loops:
  build:
    - id: code
      title: Write it
      instructions: Write the code.
      gate: [{ run: npm test }]
      on_fail: { retry: 1, then: wait }
steps:
  - { id: think, type: action, title: Think, instructions: Think about it. }
  - { id: plan, type: action, title: Plan, instructions: Plan it., review: { by: human } }
  - { id: build, type: loop, title: Build, parallel: 2 }
  - { id: close, type: action, title: Close, instructions: Close it. }
`);

const limited = load(`
name: limited
description: A step with a budget
steps:
  - { id: think, type: action, title: Think, instructions: Think about it. }
  - { id: write, type: action, title: Write, instructions: Write it., budget: { turns: 3, on_pivot: think } }
  - { id: close, type: action, title: Close, instructions: Close it. }
`);

const cleared = load(`
name: cleared
description: A step with a fresh context
boundaries: require
steps:
  - { id: think, type: action, title: Think, instructions: Think about it. }
  - { id: write, type: action, title: Write, instructions: Write it., context: clear }
  - { id: close, type: action, title: Close, instructions: Close it. }
`);

const gated = load(`
name: gated
description: A step with a gate
steps:
  - { id: think, type: action, title: Think, instructions: Think about it. }
  - id: write
    type: action
    title: Write
    instructions: Write it.
    gate: [{ run: npm test }]
    on_fail: { retry: 1, then: wait }
  - { id: close, type: action, title: Close, instructions: Close it. }
`);

/** The same, with any number of attempts. */
const patient: Definition = { ...gated, steps: gated.steps.map(({ on_fail: _, ...step }) => step) };

const failing = `RUN  src/cart.test.ts
FAIL src/cart.test.ts > refuses a negative count
expected 422 to be 400
Tests  1 failed, 11 passed`;

const tasks = [
  { id: 't1', title: 'Refuse negative counts' },
  { id: 't2', title: 'Say why in the form', depends_on: ['t1'] },
  { id: 't3', title: 'Count what was refused' },
];

async function atPlan(engine: Engine, summary: string): Promise<Played> {
  const played = await begin(engine, feature, { summary, session: 'one' });
  await played.send({ type: 'advance', output: 'Thought about it', session: 'one' });
  return played;
}

async function atBuild(engine: Engine, summary: string): Promise<Played> {
  const played = await atPlan(engine, summary);
  await played.send({ type: 'advance', output: 'Three tasks', session: 'one' });
  await played.person({ type: 'review', verdict: 'approve' });
  await played.send({ type: 'setTasks', loop: 'build', tasks, session: 'one' });
  return played;
}

/** The task is done and waits for its merge. */
async function finishTask(played: Played, task: string): Promise<void> {
  await played.engine({ type: 'claim', holder: 'worker', task });
  const path = `build/${task}`;
  const state = await played.state();
  const cursor = state.cursors[path];
  if (!cursor) throw new Error(`${task} was not claimed.`);
  await played.engine({ type: 'advance', output: 'Done', at: handleOf(state, cursor) });
  await played.gates('green', 'Tests  12 passed');
}

async function atWrite(engine: Engine, definition: Definition, summary: string): Promise<Played> {
  const played = await begin(engine, definition, { summary, session: 'one' });
  await played.send({ type: 'session', session: 'one', event: { type: 'started', witness: 'hooks' } });
  await played.send({ type: 'advance', output: 'Thought about it', session: 'one' });
  return played;
}

/** What a person has to trust before decisions in files can start gates. */
export const definitions: readonly Definition[] = [feature, limited, cleared, gated, patient];

/** Each gets a summary, and leaves a run that waits, works or has ended. */
export const situations = {
  working: atPlan,
  /** The first task is open, the second depends on it. */
  tasks: async (engine, summary) => {
    const played = await atBuild(engine, summary);
    await played.send({ type: 'claim', holder: 'one', session: 'one', task: 't1' });
    return played;
  },
  review: async (engine, summary) => {
    const played = await atPlan(engine, summary);
    await played.send({ type: 'advance', output: 'Three tasks', session: 'one' });
    return played;
  },
  question: async (engine, summary) => {
    const played = await atPlan(engine, summary);
    await played.send({ type: 'ask', text: 'Which currency?', session: 'one' });
    return played;
  },
  budget: async (engine, summary) => {
    const played = await atWrite(engine, limited, summary);
    await played.send({ type: 'spend', turns: 3, session: 'one' });
    return played;
  },
  boundary: (engine, summary) => atWrite(engine, cleared, summary),
  red: async (engine, summary) => {
    const played = await atWrite(engine, patient, summary);
    await played.send({ type: 'advance', output: 'Written', session: 'one' });
    await played.gates('red', failing);
    return played;
  },
  blocked: async (engine, summary) => {
    const played = await atWrite(engine, gated, summary);
    await played.send({ type: 'advance', output: 'Written', session: 'one' });
    await played.gates('red', failing);
    return played;
  },
  parked: async (engine, summary) => {
    const played = await atBuild(engine, summary);
    const process = { pid: 1, machine: 'laptop' };
    await played.engine({ type: 'drive', change: 'take', process, branch: 'stepfast/feature' });
    await finishTask(played, 't1');
    await played.engine({ type: 'mergeStarted', epoch: 1, task: 't1', base: 'b0', commit: 'c0' });
    const reason = 'Conflict in src/cart.ts';
    await played.engine({ type: 'mergeFinished', epoch: 1, task: 't1', result: 'conflict', reason });
    return played;
  },
  paused: async (engine, summary) => {
    const played = await atPlan(engine, summary);
    await played.person({ type: 'pause' });
    return played;
  },
  complete: async (engine, summary) => {
    const played = await atWrite(engine, gated, summary);
    await played.send({ type: 'advance', output: 'Written', session: 'one' });
    await played.gates('green', 'Tests  12 passed');
    await played.send({ type: 'advance', output: 'Closed', session: 'one' });
    return played;
  },
  failed: async (engine, summary) => {
    const played = await atPlan(engine, summary);
    await played.send({ type: 'advance', output: 'Three tasks', session: 'one' });
    await played.person({ type: 'review', verdict: 'abandon', feedback: 'The shop closes' });
    return played;
  },
  cancelled: async (engine, summary) => {
    const played = await atPlan(engine, summary);
    await played.person({ type: 'cancel', reason: 'Not wanted any more' });
    return played;
  },
} satisfies Record<string, (engine: Engine, summary: string) => Promise<Played>>;

export type Situation = keyof typeof situations;
