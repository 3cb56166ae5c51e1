import type { Command, CommandOf, Definition, Event } from '../schema/index.ts';
import { adopt } from './adopt.ts';
import { advance, fail } from './advance.ts';
import { Batch, omitUndefined } from './batch.ts';
import { offerBoundary, proceed, recordReset } from './boundary.ts';
import { spend } from './budget.ts';
import { gatesFinished, gatesStarted, interrupt } from './gates.ts';
import { byAgent, foreignHandle, locate } from './locate.ts';
import { claim, dropTask, renewLease, setTasks } from './loops.ts';
import { answer, ask, loaded, note, read, session, todo } from './record-keeping.ts';
import { type Decision, type Refusal, refuse } from './refusal.ts';
import { byPerson, personOnly, repeatsApproval, review, rewindTo } from './review.ts';
import { begin } from './start.ts';
import { ended, type State } from './state.ts';
import { stepIndex } from './steps.ts';

/**
 * What a command means for a run: events, or a refusal. Never throws on a command of its type; an empty list means that
 * nothing changes and the status is the answer (a replay, or a run that is not running).
 */
export function decide(definition: Definition, state: State | null, command: Command): Decision {
  const { events, refusal } = settle(definition, state, command);
  if (!refusal) return events;
  return events.length > 0 ? { ...refusal, events } : refusal;
}

export interface Settled {
  /** A refusal may leave events too. */
  events: Event[];
  refusal?: Refusal;
  /** What `replay` makes of the events; null when nothing was started. */
  state: State | null;
  /** The call named what had been accepted before. */
  replayed: boolean;
}

/** `decide` and `replay` in one pass. */
export function settle(definition: Definition, state: State | null, command: Command): Settled {
  const batch = new Batch(definition, state, command);
  const refusal = state === null ? begin(batch, command) : dispatch(batch, state, command);
  const { events, replayed } = batch;
  return {
    events,
    state: events.length > 0 ? batch.settled() : state,
    replayed,
    ...omitUndefined({ refusal }),
  };
}

function dispatch(batch: Batch, state: State, command: Command): Refusal | undefined {
  const at = 'at' in command ? command.at : undefined;
  const foreign = at === undefined ? undefined : foreignHandle(state, at, command);
  if (foreign) return foreign;
  if (ended(state)) return afterEnd(batch, state, command);
  renewFor(batch, command);
  switch (command.type) {
    case 'start':
    case 'import':
      return status(batch, { ...command, type: 'status' });
    case 'adopt':
      return adopt(batch, command);
    case 'status':
      return status(batch, command);
    case 'advance':
      return advance(batch, command);
    case 'fail':
      return fail(batch, command);
    case 'setTasks':
      return setTasks(batch, command);
    case 'dropTask':
      return byPerson(command) ? dropTask(batch, command) : personOnly('remove_task');
    case 'claim':
      return claim(batch, command);
    case 'gatesStarted':
      return engineOnly(command) ?? gatesStarted(batch, command);
    case 'gatesFinished':
      return engineOnly(command) ?? gatesFinished(batch, command);
    case 'review':
      return review(batch, command);
    case 'ask':
      return ask(batch, command);
    case 'answer':
      return byPerson(command) ? answer(batch, command) : personOnly('answer');
    case 'note':
      return note(batch, command);
    case 'todo':
      return todo(batch, command);
    case 'read':
      return read(batch, command);
    case 'loaded':
      return loaded(batch, command);
    case 'boundary':
      return recordReset(batch, command);
    case 'proceed':
      return byPerson(command) ? proceed(batch, command) : personOnly('pass_boundary');
    case 'session':
      return session(batch, command);
    case 'spend':
      return spend(batch, command);
    case 'rewind':
      return rewind(batch, command);
    case 'cancel':
      if (!byPerson(command)) return personOnly('cancel');
      batch.emit('run.cancelled', { reason: command.reason ?? 'cancelled' });
      return undefined;
  }
}

/** A finished run only answers; a failed or complete one may be taken back to a step. */
function afterEnd(batch: Batch, state: State, command: Command): Refusal | undefined {
  switch (command.type) {
    case 'start':
    case 'import':
    case 'status':
      return undefined;
    case 'advance':
      return advance(batch, command);
    case 'fail':
      return fail(batch, command);
    case 'session':
      return session(batch, command);
    case 'review':
      return repeatsApproval(batch, command) ? undefined : runEnded(state);
    case 'gatesStarted':
    case 'gatesFinished':
      return refuse('stale_gates', { run: state.run, status: state.status });
    case 'rewind':
      return state.status === 'cancelled' ? runEnded(state) : rewind(batch, command);
    default:
      return runEnded(state);
  }
}

const runEnded = ({ run, status }: State): Refusal => refuse('run_ended', { run, status });

/** Any call of the holder keeps its leases; where no session is known, the handle has to do. */
function renewFor(batch: Batch, command: Command): void {
  const at = 'at' in command ? command.at : undefined;
  const leaving = command.type === 'session' && command.event.type === 'ended';
  if (!byAgent(command) || leaving) return;
  for (const cursor of Object.values(batch.state.cursors)) {
    const holder = cursor.lease?.holder;
    const mine = command.session === undefined ? batch.at(cursor) === at : command.session === holder;
    if (mine) renewLease(batch, cursor);
  }
}

const engineOnly = (command: Command): Refusal | undefined =>
  command.actor?.kind === 'engine' ? undefined : refuse('engine_only', {});

function status(batch: Batch, command: CommandOf<'status'>): Refusal | undefined {
  const named = locate(batch, command.at);
  if ('refusal' in named) return command.at === undefined ? undefined : named.refusal;
  // A handle of before asks for where the caller stands now.
  const found = 'replay' in named ? locate(batch, undefined) : named;
  if (!('cursor' in found) || interrupt(batch, found.cursor, command)) return undefined;
  offerBoundary(batch, found.cursor, command.at !== undefined && found === named);
  return undefined;
}

function rewind(batch: Batch, command: CommandOf<'rewind'>): Refusal | undefined {
  const { definition, state } = batch;
  if (!byPerson(command)) return personOnly('rewind');
  const current = stepIndex(definition, state.step);
  const index = stepIndex(definition, command.to);
  if (index < 0 || index > current) {
    const steps = definition.steps.slice(0, current + 1).map((step) => step.id);
    return refuse('unknown_step', { why: 'rewind', given: command.to.slice(0, 80), steps });
  }
  rewindTo(batch, command.to);
  return undefined;
}
