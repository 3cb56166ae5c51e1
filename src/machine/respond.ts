import type { Command, CommandType, Definition, Event } from '../schema/index.ts';
import { needsCleanup } from './cleanup.ts';
import { settle } from './decide.ts';
import { type Effect, effectsOf, runGates } from './effect.ts';
import { parseHandle } from './handle.ts';
import { belongsToCaller, handleOf } from './locate.ts';
import { own } from './own-property.ts';
import type { Prepare } from './prepare.ts';
import { type Refusal, refuse } from './refusal.ts';
import type { Cursor, State } from './state.ts';
import { instructionsFor, type Status, statusOf } from './status.ts';
import { isRunStep, needsFiles, stepOf, workAt } from './steps.ts';

export type Reply = (Status & { replayed?: true }) | (Refusal & { instructions?: string });

export interface Response {
  events: Event[];
  /** null when a run could not be started. */
  state: State | null;
  reply: Reply;
  effects: Effect[];
  /** Nothing that the command says was kept, because its position waits. */
  ignored?: true;
}

const answering: readonly CommandType[] = [
  'start',
  'adopt',
  'import',
  'advance',
  'check',
  'fail',
  'setTasks',
  'claim',
];

/**
 * Runs one command without a store: decides, folds the events, requests the context action of a position that it
 * opened, and returns the reply with the effects to perform.
 *
 * @example
 * ```ts
 * import { respond, type State, type WorkflowTemplate } from 'stepfast';
 *
 * const advance = (workflow: WorkflowTemplate, state: State, output: string): State | null =>
 *   respond(workflow, state, { type: 'advance', now: Date.now(), output }).state;
 * ```
 */
export function respond(
  definition: Definition,
  state: State | null,
  command: Command,
  values: Record<string, string> = {},
  prepare?: Prepare,
): Response {
  const { refusal, replayed, ignored, ...settled } = settle(definition, state, command);
  const events = [...settled.events];
  let after = settled.state;
  if (after === null || refusal) {
    const no = refusal ?? refuse('not_started', {});
    const effects = after ? effectsOf(state, events, after) : [];
    return { events, state: after, reply: refusalReply(definition, after, no, values), effects };
  }
  if (prepare) {
    const ready = prepareAll(definition, after, command, prepare);
    events.push(...ready.events);
    after = ready.state;
  }
  const key = answeredKey(after, command, events);
  const open = own(after.cursors, key);
  if (answering.includes(command.type) && open?.boundary?.state === 'pending' && !open.preparing) {
    const at = handleOf(after, open);
    const { now, actor, session, tree } = command;
    const offered = settle(definition, after, { now, actor, session, tree, type: 'status', at });
    events.push(...offered.events);
    after = offered.state ?? after;
  }
  const cursor = own(after.cursors, key);
  const reply: Reply = statusOf(definition, after, { cursor, values, session: command.session });
  if (replayed) reply.replayed = true;
  const effects = effectsOf(state, events, after);
  const waitsForRun =
    cursor !== undefined && (cursor.preparing?.kind === 'baseline' || isRunStep(workAt(definition, cursor)));
  effects.push(
    ...unreadTasks(definition, after),
    ...(needsCleanup(after) ? [{ type: 'cleanUp' as const }] : []),
  );
  if (command.type === 'advance' || command.type === 'check' || command.type === 'review' || waitsForRun)
    effects.push(...unstarted(cursor, effects, after));
  return { events, state: after, reply, effects, ...(ignored && { ignored }) };
}

/** Loops whose tasks are in files: any call may find them unread. */
const unreadTasks = (definition: Definition, state: State): Effect[] =>
  Object.values(state.cursors).flatMap((cursor): Effect[] => {
    const { preparing, waiting, step } = cursor;
    if (preparing?.kind !== 'tasks' || waiting || !needsFiles(stepOf(definition, step))) return [];
    const { session } = preparing;
    return [
      { type: 'readTasks', at: handleOf(state, cursor), step, ...(session === undefined ? {} : { session }) },
    ];
  });

/** More than any sensible workflow asks for at once; the next call goes on. */
const mostPrepared = 200;

/** Finds out what the open positions ask for, one after the other: each answer may open the next. */
export function prepareAll(
  definition: Definition,
  state: State,
  { now, session, tree }: Command,
  prepare: Prepare,
): { events: Event[]; state: State } {
  const events: Event[] = [];
  let after = state;
  for (let count = 0; count < mostPrepared; count += 1) {
    const open = Object.values(after.cursors).filter(({ preparing, waiting }) => preparing && !waiting);
    const [found] = open.flatMap((cursor) => {
      const answer = prepare(definition, after, cursor);
      return answer ? [{ ...answer, at: handleOf(after, cursor) }] : [];
    });
    if (!found) break;
    const by = { now, session, tree, actor: { kind: 'engine' as const } };
    const settled = settle(definition, after, { ...by, type: 'prepared', ...found });
    events.push(...settled.events);
    after = settled.state ?? after;
    if (settled.refusal) break;
  }
  return { events, state: after };
}

/** The call found gates that no runner has started. It requests them again, because the process that should run them may be gone. */
function unstarted(cursor: Cursor | undefined, effects: readonly Effect[], state: State): Effect[] {
  const checking = cursor?.checking;
  if (!cursor || !checking || checking.runner) return [];
  const asked = effects.some((effect) => effect.type === 'runGates' && effect.id === checking.id);
  return asked ? [] : [runGates(handleOf(state, cursor), checking)];
}

/** A `not_briefed` refusal contains the instructions, unless a context action comes first. */
function refusalReply(
  definition: Definition,
  state: State | null,
  refusal: Refusal,
  values: Record<string, string>,
): Reply {
  if (refusal.code !== 'not_briefed' || state === null) return refusal;
  const cursor = Object.values(state.cursors).find((open) => handleOf(state, open) === refusal.at);
  if (cursor?.boundary?.state !== 'released') return refusal;
  return { ...refusal, instructions: instructionsFor(definition, state, cursor, values) };
}

/** The cursor of the reply: the caller's own task, otherwise the only cursor that no other session leases. */
function answeredKey(after: State, command: Command, events: readonly Event[]): string {
  const cursors = Object.entries(after.cursors);
  if (command.type === 'claim') {
    const taken = events.findLast((event) => event.type === 'position.entered');
    const mine = cursors.find(
      ([, { lease, task }]) => lease?.holder === command.holder && task === (taken?.task ?? command.task),
    );
    return mine?.[0] ?? '';
  }
  const at = 'at' in command ? command.at : undefined;
  if (at !== undefined) {
    const [step = '', task = ''] = parseHandle(at)?.path.split('/') ?? [];
    const key = `${step}/${task}`;
    const mine = own(after.cursors, key);
    if (mine) return belongsToCaller(mine, command) ? key : '';
  }
  const [only, second] = cursors;
  if (!only || second) return '';
  const [key, cursor] = only;
  const unnamed = command.type === 'status' && at === undefined && belongsToCaller(cursor, command);
  return unnamed || cursor.lease === undefined || cursor.lease.holder === command.session ? key : '';
}
