import {
  allUsedUp,
  type Command,
  type Cursor,
  type Definition,
  formatHandle,
  type State,
  type Step,
  usedUp,
} from '../../machine/index.ts';
import type { Player } from './walk.ts';

const person = { kind: 'person', name: 'you' } as const;

/** Every step succeeds: the agent does its work, gates are green, people approve. */
export const succeed =
  (tasks: number): Player =>
  (definition, state, now) => {
    if (usedUp(state)) return { now, actor: person, type: 'review', verdict: 'approve', amount: more(state) };
    const cursor =
      Object.values(state.cursors).find((open) => !open.waiting) ?? Object.values(state.cursors)[0];
    return cursor ? moveAt(state, cursor, now, tasks, definition) : claimNext(definition, state, now);
  };

function moveAt(state: State, cursor: Cursor, now: number, tasks: number, definition: Definition): Command {
  const at = handleOf(state, cursor);
  const { checking, waiting, boundary } = cursor;
  if (checking) return gatesFinished(cursor, now, () => true);
  if (waiting?.kind === 'question')
    return { now, actor: person, type: 'answer', text: 'Yes', question: waiting.id };
  if (waiting?.kind === 'blocked') return { now, actor: person, type: 'review', verdict: 'revise', at };
  if (waiting) {
    const actor = waiting.by === 'human' ? person : ({ kind: 'agent', name: waiting.by } as const);
    return { now, actor, type: 'review', verdict: 'approve', at };
  }
  if (boundary?.state === 'pending') return { now, type: 'status', at };
  if (boundary?.state === 'requested') return { now, type: 'boundary', by: 'hook', saw: boundary.action, at };
  if (stepOf(definition, cursor).type === 'loop' && cursor.task === undefined) {
    return { now, type: 'setTasks', loop: cursor.step, tasks: createTasks(tasks) };
  }
  return { now, type: 'advance', at, output: `${cursor.path} is done` };
}

/** In a parallel loop, an agent claims a ready task. */
function claimNext(definition: Definition, state: State, now: number): Command | undefined {
  const step = definition.steps.find(({ id }) => id === state.step);
  if (state.status !== 'running' || step?.type !== 'loop') return undefined;
  return { now, type: 'claim', holder: 'agent-1' };
}

/** Injects failures: red gates, failed steps, late calls, rejected reviews. They are rare enough for the run to end. */
export function random(seed: number, tasks: number): Player {
  const roll = seededRandom(seed);
  const onSuccess = succeed(tasks);
  const past: string[] = [];
  return (definition, state, now) => {
    const cursor = Object.values(state.cursors).find((open) => !open.waiting);
    const waiting = Object.values(state.cursors).find((open) => open.waiting?.kind === 'review');
    if (waiting && !cursor && roll() < 0.3) {
      const step = stepOf(definition, waiting);
      const verdict = step.review?.on_pivot !== undefined && roll() < 0.4 ? 'pivot' : 'revise';
      const at = handleOf(state, waiting);
      return {
        now,
        actor: person,
        type: 'review',
        verdict,
        at,
        feedback: 'Think again about the edge cases.',
      };
    }
    if (!cursor) return onSuccess(definition, state, now);
    const at = handleOf(state, cursor);
    past.push(at);
    if (cursor.checking) return gatesFinished(cursor, now, () => roll() > 0.25);
    const luck = roll();
    if (luck < 0.06) return { now, type: 'fail', at, reason: 'The approach did not work.' };
    if (luck < 0.12)
      return { now, type: 'advance', at: past[Math.floor(roll() * past.length)] ?? at, output: 'Done!' };
    if (luck < 0.16) return { now, type: 'ask', at, text: 'Which of the two ways?' };
    if (luck < 0.24 && cursor.boundary?.state === 'requested') return { now, type: 'status', at };
    if (luck < 0.3 && stepOf(definition, cursor).budget)
      return { now, type: 'spend', turns: 40, tokens: 200_000 };
    return onSuccess(definition, state, now);
  };
}

/** Plays the moves of a script, then every step succeeds. */
export function scripted(moves: readonly ScriptedMove[], tasks: number): Player {
  const left = [...moves];
  const onSuccess = succeed(tasks);
  return (definition, state, now) => {
    const move = left.shift();
    if (!move) return onSuccess(definition, state, now);
    const cursor = Object.values(state.cursors)[0];
    const at = cursor && handleOf(state, cursor);
    if (move.gates !== undefined) {
      const checking = Object.values(state.cursors).find((open) => open.checking);
      if (!checking) return { now, type: 'gatesFinished', id: 'none', receipts: [] };
      const red = move.gates;
      return gatesFinished(checking, now, (what) => red === 'green' || (red !== 'red' && red !== what));
    }
    if (move.tasks) {
      const list = move.tasks.map((id) => ({ id, title: `Task ${id}` }));
      return { now, type: 'setTasks', loop: state.step, tasks: list };
    }
    if (move.review) {
      const amount = usedUp(state) ? more(state) : undefined;
      const { review: verdict, feedback } = move;
      return { now, actor: person, type: 'review', verdict, feedback, amount };
    }
    if (move.fail !== undefined) return { now, type: 'fail', reason: move.fail, at };
    if (move.ask !== undefined) return { now, type: 'ask', text: move.ask, at };
    if (move.answer !== undefined) return { now, actor: person, type: 'answer', text: move.answer };
    if (move.reset) return { now, type: 'boundary', by: 'hook', saw: move.reset, at };
    if (move.rewind !== undefined) return { now, actor: person, type: 'rewind', to: move.rewind };
    if (move.spend !== undefined) return { now, type: 'spend', turns: move.spend };
    if (move.advance !== undefined) return { now, type: 'advance', output: move.advance, at: move.at || at };
    return { now, type: 'status', at };
  };
}

/** One entry of a script: exactly one of these keys, besides `at` and `feedback`. */
export interface ScriptedMove {
  advance?: string;
  /** The handle to send; by default that of the open position. */
  at?: string;
  fail?: string;
  tasks?: string[];
  /** `green`, `red`, or the command of the only red gate. */
  gates?: string;
  review?: 'approve' | 'revise' | 'pivot' | 'escalate' | 'abandon';
  feedback?: string;
  ask?: string;
  answer?: string;
  reset?: 'clear' | 'compact';
  rewind?: string;
  spend?: number;
  status?: true;
}

export const moveKeys = [
  'advance',
  'fail',
  'tasks',
  'gates',
  'review',
  'ask',
  'answer',
  'reset',
  'rewind',
  'spend',
  'status',
] as const;

function gatesFinished(cursor: Cursor, now: number, passes: (what: string) => boolean): Command {
  const receipts = (cursor.checking?.gates ?? []).map(({ gate }, index) => ({
    gate: index,
    pass: passes(gate.run ?? gate.exists ?? gate.condition ?? gate.read?.join(', ') ?? ''),
  }));
  return { now, actor: { kind: 'engine' }, type: 'gatesFinished', id: cursor.checking?.id ?? '', receipts };
}

const createTasks = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: `task-${index + 1}`, title: `Task ${index + 1}` }));

const more = (state: State) => Object.fromEntries(allUsedUp(state).map(({ unit }) => [unit, 1_000_000]));

const handleOf = (state: State, cursor: Cursor): string => formatHandle(state.run, cursor.path, cursor.visit);

const stepOf = (definition: Definition, cursor: Cursor): Step =>
  definition.steps.find(({ id }) => id === cursor.step) ?? { id: cursor.step, type: 'action' };

/** Seeded random numbers from 0 to 1 (mulberry32). */
function seededRandom(seed: number): () => number {
  let value = seed;
  return () => {
    value = (value + 0x6d2b79f5) | 0;
    let mixed = Math.imul(value ^ (value >>> 15), 1 | value);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
