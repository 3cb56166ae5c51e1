import type { Command, CommandOf, Definition, Event } from '../schema/index.ts';
import { adopt } from './adopt.ts';
import { advance, block, check, fail } from './advance.ts';
import { Batch, defined } from './batch.ts';
import { offerBoundary, proceed, recordReset } from './boundary.ts';
import { countActivity, spend } from './budget.ts';
import { cleanupFinished, cleanupStarted } from './cleanup.ts';
import { drive, pause } from './driver.ts';
import { gatesFinished, gatesStarted, interrupt, startCommands } from './gates.ts';
import { renewLeases } from './lease.ts';
import { byAgent, foreignHandle, locate } from './locate.ts';
import { claim, dropTask, setTasks } from './loops.ts';
import { holdQueue, mergeFinished, mergeStarted, retryMerge } from './merge-queue.ts';
import { foreignWork } from './ownership.ts';
import { prepared } from './prepare.ts';
import { answer, ask, loaded, note, read, session, todo } from './record-keeping.ts';
import { type Decision, type Refusal, refuse } from './refusal.ts';
import { byPerson, personOnly, repeatsApproval, review, rewindTo } from './review.ts';
import { begin } from './start.ts';
import { ended, type State } from './state.ts';
import { stepIndex } from './steps.ts';

/**
 * Decides what a command does to a run: events, or a refusal. It never throws. An empty list means that nothing changes
 * and the status is the answer, as for a repeated call.
 *
 * @example
 * ```ts
 * import { decide, isRefusal, loadWorkflowTemplateFromString, replay } from 'stepfast';
 *
 * const workflow = loadWorkflowTemplateFromString('name: go\ndescription: d\ntype: custom\nsteps:\n  - id: work\n    type: action\n');
 * const decision = decide(workflow, null, { type: 'start', now: Date.now(), run: 'go-20261116-k3f9x2ab' });
 * const state = isRefusal(decision) ? null : replay(workflow, null, decision);
 * ```
 */
export function decide(definition: Definition, state: State | null, command: Command): Decision {
  const { events, refusal } = settle(definition, state, command);
  if (!refusal) return events;
  return events.length > 0 ? { ...refusal, events } : refusal;
}

export interface Settled {
  /** A refused command can still emit events. */
  events: Event[];
  refusal?: Refusal;
  /** The state after the events; null if no run was started. */
  state: State | null;
  /** The same call was accepted before. */
  replayed: boolean;
  /** Nothing that the command says was kept, because its position waits. Others of its events may be. */
  ignored: boolean;
}

/**
 * `decide` and `replay` in one pass.
 *
 * @example
 * ```ts
 * import { type Command, settle, type State, type WorkflowTemplate } from 'stepfast';
 *
 * function execute(workflow: WorkflowTemplate, state: State | null, command: Command): State | null {
 *   const { state: after, refusal } = settle(workflow, state, command);
 *   if (refusal) console.error(refusal.code);
 *   return after;
 * }
 * ```
 */
export function settle(definition: Definition, state: State | null, command: Command): Settled {
  const batch = new Batch(definition, state, command);
  const refusal = state === null ? begin(batch, command) : dispatch(batch, state, command);
  startCommands(batch);
  if (state && command.type !== 'spend') countActivity(batch, state);
  const { events, replayed, ignored } = batch;
  return {
    events,
    state: events.length > 0 ? batch.settled() : state,
    replayed,
    ignored,
    ...defined({ refusal }),
  };
}

function dispatch(batch: Batch, state: State, command: Command): Refusal | undefined {
  const at = 'at' in command ? command.at : undefined;
  const foreign = at === undefined ? undefined : foreignHandle(state, at, command);
  if (foreign) return foreign;
  const notMine = foreignWork(state, command);
  if (notMine) return notMine;
  if (ended(state)) return afterEnd(batch, state, command);
  renewLeases(batch, command);
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
    case 'check':
      return check(batch, command);
    case 'fail':
      return fail(batch, command);
    case 'block':
      return engineOnly(command) ?? block(batch, command);
    case 'setTasks':
      return setTasks(batch, command);
    case 'dropTask':
      return byPerson(command) ? dropTask(batch, command) : personOnly('remove_task');
    case 'claim':
      return claim(batch, command);
    case 'prepared':
      return engineOnly(command) ?? prepared(batch, command);
    case 'gatesStarted':
      return engineOnly(command) ?? gatesStarted(batch, command);
    case 'gatesFinished':
      return engineOnly(command) ?? gatesFinished(batch, command);
    case 'cleanupStarted':
    case 'cleanupFinished':
      return engineOnly(command) ?? refuse('stale_gates', { run: state.run, status: state.status });
    case 'drive':
      return engineOnly(command) ?? drive(batch, command);
    case 'pause':
    case 'unpause':
      return byAgent(command) ? personOnly('pause') : pause(batch, command);
    case 'mergeStarted':
      return engineOnly(command) ?? mergeStarted(batch, command);
    case 'mergeFinished':
      return engineOnly(command) ?? mergeFinished(batch, command);
    case 'holdQueue':
      return engineOnly(command) ?? holdQueue(batch, command);
    case 'retryMerge':
      return byPerson(command) ? retryMerge(batch, command) : personOnly('retry_merge');
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

/** A run that has ended changes nothing, except that a person may rewind it if it was not cancelled. */
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
    // What the last turn has spent is known after its end.
    case 'spend':
      return command.source === undefined ? runEnded(state) : spend(batch, command);
    case 'review':
      return repeatsApproval(batch, command) ? undefined : runEnded(state);
    case 'gatesStarted':
    case 'gatesFinished':
      return refuse('stale_gates', { run: state.run, status: state.status });
    case 'cleanupStarted':
      return engineOnly(command) ?? cleanupStarted(batch, command);
    case 'cleanupFinished':
      return engineOnly(command) ?? cleanupFinished(batch, command);
    case 'drive':
      return engineOnly(command) ?? (command.change === 'take' ? runEnded(state) : drive(batch, command));
    case 'rewind':
      return state.status === 'cancelled' ? runEnded(state) : rewind(batch, command);
    default:
      return runEnded(state);
  }
}

const runEnded = ({ run, status }: State): Refusal => refuse('run_ended', { run, status });

const engineOnly = (command: Command): Refusal | undefined =>
  command.actor?.kind === 'engine' ? undefined : refuse('engine_only', {});

function status(batch: Batch, command: CommandOf<'status'>): Refusal | undefined {
  const named = locate(batch, command.at);
  if ('refusal' in named) return command.at === undefined ? undefined : named.refusal;
  // An older handle asks for the caller's current position.
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
