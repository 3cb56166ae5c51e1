import { compileCondition } from '../../definition/index.ts';
import { contextOf, outputsAt } from '../../engine/index.ts';
import {
  allUsedUp,
  type Command,
  type Cursor,
  commandIn,
  type Definition,
  ended,
  type Gate,
  type GateResult,
  handleOf,
  opening,
  type State,
  type Step,
  usedUp,
  workAt,
} from '../../machine/index.ts';
import { conditionHolds } from '../../workspace/index.ts';
import { sampleOutput } from './sample-output.ts';
import type { Player } from './walk.ts';

const person = { kind: 'person', name: 'you' } as const;

/** Every step succeeds: the agent does its work, gates are green, people approve. */
export function succeed(tasks: number): Player {
  const revised = new Map<string, number>();
  return (definition, state, now) => {
    if (ended(state)) return cleanUp(definition, state, now);
    if (usedUp(state))
      return { now, actor: person, type: 'review', verdict: 'approve', amount: moreBudget(state) };
    const cursor =
      Object.values(state.cursors).find((open) => !open.waiting) ?? Object.values(state.cursors)[0];
    if (!cursor) return claimNext(definition, state, now);
    // A condition that never holds would block the position again and again.
    const times = revised.get(cursor.path) ?? 0;
    if (cursor.waiting?.kind === 'blocked' && times >= mostRevised) return undefined;
    if (cursor.waiting) revised.set(cursor.path, times + 1);
    return moveAt(state, cursor, now, tasks, definition);
  };
}

const mostRevised = 2;

function cleanUp({ finally: steps = [] }: Definition, { cleanup }: State, now: number): Command | undefined {
  const engine = { now, actor: { kind: 'engine' } } as const;
  if (cleanup?.state === 'pending') return { ...engine, type: 'cleanupStarted' };
  const next = cleanup && steps[cleanup.done?.length ?? 0];
  return next && { ...engine, type: 'cleanupFinished', step: next.id, pass: true };
}

function moveAt(state: State, cursor: Cursor, now: number, tasks: number, definition: Definition): Command {
  const at = handleOf(state, cursor);
  const { checking, waiting, boundary, preparing } = cursor;
  // Files are not read: the tasks of a dry run are made up.
  if (preparing?.kind === 'tasks' && !waiting)
    return { now, actor: { kind: 'engine' }, type: 'prepared', at, tasks: createTasks(tasks) };
  // Before the work gates are red, as where there is something to fix.
  if (checking) return gatesFinished({ definition, state, cursor }, now, () => preparing === undefined);
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
  const key = artifactToNote(state, cursor);
  if (key !== undefined) return { now, type: 'note', kind: 'artefact', key, text: `${key}.md`, at };
  const output = sampleOutput(workAt(definition, cursor), `${cursor.path} is done`);
  return { now, type: 'advance', at, output };
}

/** An artifact that a red condition looks for, and that the agent has not noted yet. */
function artifactToNote({ artifacts }: State, { receipts = [] }: Cursor): string | undefined {
  const red = receipts.flatMap(({ pass, what }) => (pass ? [] : compileCondition(what)));
  const paths = red.flatMap((condition) => (condition.ok ? condition.paths : []));
  const keys = paths.flatMap(([root, part, key]) => (root === 'state' && part === 'artifacts' ? [key] : []));
  return keys.find((key) => key !== undefined && !Object.hasOwn(artifacts, key));
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
    if (cursor.checking) return gatesFinished({ definition, state, cursor }, now, () => roll() > 0.25);
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

interface Simulated {
  definition: Definition;
  state: State;
  cursor: Cursor;
}

/** Commands and files pass as the player says. Conditions are evaluated, since all that they read is simulated. */
export function gatesFinished(
  { definition, state, cursor }: Simulated,
  now: number,
  passes: (gate: Gate) => boolean,
): Command {
  const texts = outputsAt(state, cursor).map(([key, text]) => [key, opening(text)] as const);
  const context = contextOf({ definition, state }, texts, cursor);
  const receipts = (cursor.checking?.gates ?? []).map(({ gate }, index): GateResult => {
    if (!passes(gate)) return { gate: index, pass: false };
    if (gate.condition === undefined) return { gate: index, pass: true };
    const { pass, why, undecided } = conditionHolds(gate.condition, context);
    return { gate: index, pass, ...(undecided && { undecided }), ...(why !== undefined && { tail: why }) };
  });
  const id = cursor.checking?.id ?? '';
  const command = { now, actor: { kind: 'engine' }, type: 'gatesFinished', id, receipts } as const;
  if (commandIn(cursor) === undefined) return command;
  return { ...command, output: sampleOutput(workAt(definition, cursor), `${cursor.path} is done`) };
}

const createTasks = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: `task-${index + 1}`, title: `Task ${index + 1}` }));

export const moreBudget = (state: State) =>
  Object.fromEntries(allUsedUp(state).map(({ unit }) => [unit, 1_000_000]));

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
