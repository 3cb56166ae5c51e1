import {
  type Command,
  type Cursor,
  type Definition,
  formatHandle,
  type GateResult,
  type State,
} from '../../src/machine/index.ts';
import { noteKinds } from '../../src/schema/names.ts';
import type { Dice } from './dice.ts';
import { driverCommand } from './driver-commands.ts';

/** What a random agent, person or runner remembers. */
export interface Memory {
  now: number;
  handles: string[];
  gateRuns: string[];
  count: number;
  /** Sessions tell what they have spent so far; without it, amounts are added as the stored digests have it. */
  tells?: true;
}

export const memory = (): Memory => ({ now: 1_000_000, handles: [], gateRuns: [], count: 0 });

const sessions = ['A', 'B', 'C'];
const trees = ['t1', 't1', 't1', 't2'];

/** A command that a caller could send: mostly sensible, often late, repeated or wrong. */
export function randomCommand(definition: Definition, state: State, dice: Dice, memory: Memory): Command {
  memory.now += dice.pick([0, 1_000, 61_000, 400_000, 2_000_000]) ?? 0;
  memory.count += 1;
  const caller = {
    now: memory.now,
    ...(dice.one(4) ? {} : { session: dice.pick(sessions) ?? 'A' }),
    ...(dice.one(3) ? {} : { tree: dice.pick(trees) ?? 't1' }),
    actor: { kind: dice.one(4) ? ('person' as const) : ('agent' as const) },
  };
  const person = { ...caller, actor: { kind: 'person' as const, name: 'ann' } };
  const engine = { ...caller, actor: { kind: 'engine' as const } };
  const at = someHandle(state, dice, memory);
  const where = at === undefined ? {} : { at };
  const preparing = memory.tells && Object.values(state.cursors).find((cursor) => cursor.preparing);
  if (preparing && !dice.one(3)) {
    const values = { 'inputs.x': 'true' };
    const isTasks = preparing.preparing?.kind === 'tasks';
    const tasks = [{ id: `t${dice.roll(4)}`, title: 'One' }];
    const found = dice.one(8)
      ? { problem: 'who knows' }
      : isTasks
        ? { tasks }
        : { when: { holds: !dice.one(3), values } };
    return {
      ...engine,
      type: 'prepared',
      at: at ?? formatHandle(state.run, preparing.path, preparing.visit),
      ...found,
    };
  }
  if (memory.tells && state.cleanup && dice.one(2)) return cleanupCommand(state, dice, engine);
  if (memory.tells && dice.one(state.merges ? 3 : 12)) return driverCommand(state, dice, caller, at);
  const text = `text ${dice.one(4) ? 0 : memory.count}`;
  switch (dice.roll(30)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
      return {
        ...caller,
        type: 'advance',
        output: memory.tells && memory.count % 3 > 0 ? fittingOutput(memory.count) : text,
        ...where,
        ...(dice.one(12) ? { runnerAlive: false } : {}),
        ...(memory.count % 43 === 0 ? { undecided: 'cannot be decided' } : {}),
      };
    case 6:
    case 7:
      return { ...caller, type: 'status', ...where };
    case 8:
      return { ...caller, type: 'fail', reason: text, ...where };
    case 9:
    case 10:
    case 11:
      return setTasks(definition, state, dice, caller);
    case 12:
    case 13:
    case 14: {
      const task = dice.one(2) ? dice.pick(['t0', 't1', 't2', 'nope']) : undefined;
      const holder = dice.one(4) ? 'C' : (caller.session ?? 'A');
      return { ...caller, type: 'claim', holder, ...(task ? { task } : {}) };
    }
    case 15:
    case 16:
    case 17:
      return gatesFinished(state, dice, memory, dice.one(12) ? caller : engine);
    case 18:
      return {
        ...caller,
        type: 'gatesStarted',
        id: someGateRun(state, dice, memory),
        runner: { pid: 7, host: 'h' },
      };
    case 19:
    case 20:
    case 21: {
      const verdict =
        dice.pick(['approve', 'approve', 'revise', 'pivot', 'escalate', 'abandon'] as const) ?? 'approve';
      const amount = dice.one(2) ? { amount: { turns: 2 } } : {};
      const by = dice.one(5) ? caller : person;
      return { ...by, type: 'review', verdict, feedback: text, ...amount, ...(dice.one(2) ? where : {}) };
    }
    case 22:
      return { ...caller, type: 'ask', text, ...where };
    case 23:
      return { ...person, type: 'answer', text };
    case 24:
      return randomNote(dice, caller, text);
    case 25: {
      const saw = dice.pick(['compact', 'clear', 'new'] as const) ?? 'clear';
      const by = dice.pick(['hook', 'driver', 'subagent'] as const) ?? 'hook';
      return { ...caller, type: 'boundary', by, saw, ...(dice.one(2) ? where : {}) };
    }
    case 26:
      return { ...person, type: 'proceed', ...where };
    case 27:
      // A session tells its own figures, which grow with time; without one they are added.
      return {
        ...caller,
        type: 'spend',
        ...(caller.session === undefined || !memory.tells
          ? { turns: 1, tokens: 10 }
          : { source: caller.session, turns: Math.floor(caller.now / 60_000) % 50, tokens: 10 }),
        ...(dice.one(3) ? where : {}),
      };
    case 28: {
      const to = dice.pick(definition.steps)?.id ?? 's0';
      return dice.one(2) ? { ...person, type: 'rewind', to } : { ...caller, type: 'start', run: state.run };
    }
    default:
      return sessionCommand(state, dice, caller);
  }
}

/** JSON that the schema of a random workflow accepts. */
export const fittingOutput = (n: number): string => JSON.stringify({ n });

function cleanupCommand(state: State, dice: Dice, caller: CallerParts): Command {
  const runner = { pid: 7, host: dice.one(8) ? 'elsewhere' : 'h' };
  if (state.cleanup?.state === 'pending' || dice.one(4)) return { ...caller, type: 'cleanupStarted', runner };
  return { ...caller, type: 'cleanupFinished', step: dice.one(8) ? 'c1' : 'c0', pass: dice.one(2), runner };
}

type CallerParts = { now: number; session?: string; tree?: string; actor?: NonNullable<Command['actor']> };

function someHandle(state: State, dice: Dice, memory: Memory): string | undefined {
  const open = Object.values(state.cursors).map((cursor) =>
    formatHandle(state.run, cursor.path, cursor.visit),
  );
  memory.handles.push(...open.filter((handle) => !memory.handles.includes(handle)));
  switch (dice.roll(6)) {
    case 0:
      return undefined;
    case 1:
      return dice.pick(memory.handles);
    case 2:
      return dice.one(4) ? 'other:s0#1' : dice.pick(open);
    default:
      return dice.pick(open);
  }
}

function setTasks(definition: Definition, state: State, dice: Dice, caller: CallerParts): Command {
  const loops = definition.steps.filter((step) => step.type === 'loop');
  const current = loops.find((step) => step.id === state.step);
  if (current && dice.one(8)) {
    const actor = { kind: dice.one(4) ? ('agent' as const) : ('person' as const) };
    return { ...caller, actor, type: 'dropTask', task: `t${dice.roll(5)}`, reason: 'not needed' };
  }
  const loop = (dice.one(4) ? dice.pick(loops) : current)?.id ?? 'none';
  const tasks = Array.from({ length: dice.roll(5) }, (_, index) => ({
    id: `t${index}`,
    title: `Task ${index}`,
    ...(dice.one(3) ? { depends_on: [`t${dice.roll(5)}`] } : {}),
  }));
  return { ...caller, type: 'setTasks', loop, tasks };
}

/** A receipt for each gate of the request; one in four is red. */
export function receiptsFor(cursor: Cursor | undefined, passes: (index: number) => boolean) {
  return (cursor?.checking?.gates ?? []).map(({ gate: { condition } }, gate): GateResult => {
    const pass = passes(gate);
    const undecided = !pass && condition !== undefined && (cursor?.checks ?? 0) % 2 === 0;
    return undecided ? { gate, pass, undecided, tail: 'cannot be decided' } : { gate, pass };
  });
}

/** Of now or of before. */
function someGateRun(state: State, dice: Dice, memory: Memory): string {
  for (const { checking } of Object.values(state.cursors)) {
    if (checking && !memory.gateRuns.includes(checking.id)) memory.gateRuns.push(checking.id);
  }
  return dice.pick(memory.gateRuns) ?? 'none';
}

function gatesFinished(state: State, dice: Dice, memory: Memory, caller: CallerParts): Command {
  const checking = Object.values(state.cursors).filter((cursor) => cursor.checking);
  const cursor = dice.pick(checking);
  const id = dice.one(6) ? someGateRun(state, dice, memory) : (cursor?.checking?.id ?? 'none');
  const unstable = dice.one(12) ? { unstable: ['dist/x'] } : {};
  const runner = cursor?.checking?.runner && !dice.one(10) ? { runner: cursor.checking.runner } : {};
  return {
    ...caller,
    type: 'gatesFinished',
    id,
    receipts: receiptsFor(cursor, () => !dice.one(4)),
    ...unstable,
    ...runner,
  };
}

function randomNote(dice: Dice, caller: CallerParts, text: string): Command {
  switch (dice.roll(4)) {
    case 0:
      return { ...caller, type: 'todo', content: text };
    case 1:
      if (dice.one(2)) return { ...caller, type: 'read', path: 'docs/a.md', hash: text };
      return { ...caller, type: 'loaded', trigger: 'manual', artifacts: [{ id: 'spec', hash: text }] };
    default: {
      const kind = dice.pick(noteKinds) ?? 'decision';
      const key = dice.one(2) ? { key: dice.pick(['a', 'constructor', '__proto__']) ?? 'a' } : {};
      return { ...caller, type: 'note', kind, text: text.repeat(dice.one(5) ? 60 : 1), ...key };
    }
  }
}

function sessionCommand(state: State, dice: Dice, caller: CallerParts): Command {
  const session = dice.pick(sessions) ?? 'A';
  const cursor = dice.pick(Object.values(state.cursors));
  switch (dice.roll(5)) {
    case 0:
      return { ...caller, session, type: 'session', event: { type: 'ended' } };
    case 1:
      return { ...caller, session, type: 'session', event: { type: 'seen' } };
    case 2: {
      const at = cursor ? formatHandle(state.run, cursor.path, cursor.visit) : 'none';
      return { ...caller, session, type: 'session', event: { type: 'held', at } };
    }
    case 3: {
      const [note] = state.notes;
      return {
        ...caller,
        session,
        type: 'session',
        event:
          (caller.now / 1000) % 2 === 0
            ? { type: 'delivered', briefing: 'b1', proven: 'handle' }
            : { type: 'compacted', trigger: 'auto', asked: 3, found: 1, kept: [], lost: [note?.id ?? 'n0'] },
      };
    }
    default: {
      const witness = dice.pick(['hooks', 'driver', undefined] as const);
      return {
        ...caller,
        session,
        type: 'session',
        event: { type: 'started', host: 'h', ...(witness ? { witness } : {}) },
      };
    }
  }
}
