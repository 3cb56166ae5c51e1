import { advance, fail, gatesFinished, gatesStarted, interrupt } from './advance.ts';
import { Batch, given } from './batch.ts';
import { offerBoundary, proceed, seeReset } from './boundary.ts';
import type { Command, CommandOf } from './command.ts';
import type { Definition, Input, Scalar } from './definition.ts';
import type { Event } from './event.ts';
import { enterStep } from './flow.ts';
import { locate, onlyCursor } from './locate.ts';
import { claim, renewLease, setTasks } from './loops.ts';
import { own } from './record.ts';
import { answer, ask, note, session } from './record-keeping.ts';
import { type Decision, type Refusal, refuse } from './refusal.ts';
import { byPerson, personOnly, review, spend } from './review.ts';
import { ended, type State } from './state.ts';
import { stepIndex, subStepsOf } from './steps.ts';

/**
 * What a command means for a run: events, or a refusal. Never throws on any command; an empty list means that
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
}

/** `decide` and `replay` in one pass. */
export function settle(definition: Definition, state: State | null, command: Command): Settled {
  const batch = new Batch(definition, state, command.now);
  const refusal = state === null ? begin(batch, command) : go(batch, state, command);
  return {
    events: batch.events,
    state: batch.events.length > 0 ? batch.settled() : state,
    ...given({ refusal }),
  };
}

function begin(batch: Batch, command: Command): Refusal | undefined {
  switch (command.type) {
    case 'start':
      return start(batch, command);
    case 'adopt': {
      started(batch, command, {});
      batch.emit('run.adopted', { adopted: command.adopted });
      enterStep(batch, batch.definition.steps[0]?.id ?? '');
      return undefined;
    }
    case 'import':
      if (!knownPlace(batch.definition, command.state)) {
        const message = `'${batch.definition.name}' has no place '${String(command.state.step).slice(0, 80)}'`;
        return refuse('unknown_step', message, 'import it with the workflow it was saved from');
      }
      started(batch, command, {});
      batch.emit('run.imported', { state: command.state });
      return undefined;
    default:
      return refuse('not_started', 'the run has not started', 'start it');
  }
}

function go(batch: Batch, state: State, command: Command): Refusal | undefined {
  if (ended(state)) return afterEnd(batch, state, command);
  renewFor(batch, command);
  switch (command.type) {
    case 'start':
    case 'import':
      return status(batch, { now: command.now, type: 'status', ...given({ session: command.session }) });
    case 'adopt':
      batch.emit('run.adopted', { adopted: command.adopted });
      return undefined;
    case 'status':
      return status(batch, command);
    case 'advance':
      return advance(batch, command);
    case 'fail':
      return fail(batch, command);
    case 'setTasks':
      return setTasks(batch, command);
    case 'claim':
      return claim(batch, command);
    case 'gatesStarted':
      return gatesStarted(batch, command);
    case 'gatesFinished':
      return gatesFinished(batch, command);
    case 'review':
      return review(batch, command);
    case 'ask':
      return ask(batch, command);
    case 'answer':
      return byPerson(command) ? answer(batch, command) : personOnly('the answer');
    case 'note':
      return note(batch, command);
    case 'todo':
      batch.emit('todo.replaced', { content: command.content });
      return undefined;
    case 'read':
      batch.emit('file.read', { path: command.path, hash: command.hash });
      return undefined;
    case 'boundary':
      return seeReset(batch, command);
    case 'proceed':
      return byPerson(command) ? proceed(batch, command) : personOnly('letting a context action pass');
    case 'session':
      return session(batch, command);
    case 'spend':
      return spend(batch, command);
    case 'rewind':
      return rewind(batch, command);
    case 'cancel':
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
    case 'advance':
    case 'fail':
      return undefined;
    case 'session':
      return session(batch, command);
    case 'gatesStarted':
    case 'gatesFinished':
      return refuse('stale_gates', `${state.run} is ${state.status}`, 'drop the result');
    case 'rewind':
      return state.status === 'cancelled' ? overFor(state) : rewind(batch, command);
    default:
      return overFor(state);
  }
}

function overFor(state: State): Refusal {
  const next = state.status === 'cancelled' ? 'start a new run' : 'rewind to a step, or start a new run';
  return refuse('run_ended', `${state.run} is ${state.status}`, next);
}

/** Any call that names a leased position keeps its lease. */
function renewFor(batch: Batch, command: Command): void {
  if (!('at' in command) || command.at === undefined) return;
  const found = locate(batch.definition, batch.state, command.at);
  if ('cursor' in found) renewLease(batch, found.cursor);
}

function start(batch: Batch, command: CommandOf<'start'>): Refusal | undefined {
  const { inputs, refusal } = takeInputs(batch.definition, command.inputs ?? {});
  if (refusal) return refusal;
  started(batch, command, inputs);
  enterStep(batch, batch.definition.steps[0]?.id ?? '', given({ tree: command.tree }));
  return undefined;
}

function started(
  batch: Batch,
  command: CommandOf<'start' | 'adopt' | 'import'>,
  inputs: Record<string, Scalar>,
): void {
  const summary = 'summary' in command ? shortSummary(command.summary) : undefined;
  const policy = 'boundaries' in command ? command.boundaries : undefined;
  batch.emit('run.started', {
    run: command.run,
    workflow: batch.definition.name,
    inputs,
    boundaries: policy ?? batch.definition.boundaries ?? 'prefer',
    ...given({ summary }),
  });
  const witness = 'witness' in command ? command.witness : undefined;
  const { session } = command;
  if (session !== undefined) batch.emit('session.started', { session, ...given({ witness }) });
}

/** Trimmed; longer than 100 characters becomes 97 and an ellipsis. */
function shortSummary(summary: string | undefined): string | undefined {
  const text = summary?.trim();
  if (!text) return undefined;
  return text.length > 100 ? `${text.slice(0, 97)}...` : text;
}

function takeInputs(
  definition: Definition,
  inputs: Record<string, Scalar>,
): { inputs: Record<string, Scalar>; refusal?: Refusal } {
  const taken: Record<string, Scalar> = {};
  const refused = (message: string, next: string) => ({
    inputs: taken,
    refusal: refuse('bad_input', message, next),
  });
  const declared = definition.inputs ?? {};
  const names = Object.keys(declared);
  const unknown = Object.keys(inputs).find((name) => !Object.hasOwn(declared, name));
  if (unknown !== undefined) {
    const next = names.length > 0 ? `it takes ${names.join(', ')}` : 'it takes none';
    return refused(`'${definition.name}' has no input '${unknown.slice(0, 80)}'`, next);
  }
  for (const [name, input] of Object.entries(declared)) {
    const value = own(inputs, name) ?? input.default;
    if (value === undefined && input.required) {
      return refused(`'${definition.name}' needs the input '${name}'`, `start it with ${name}`);
    }
    if (value !== undefined && !fits(value, input)) {
      return refused(`the input '${name}' must be a ${input.type ?? 'string'}`, 'correct it');
    }
    if (value !== undefined) taken[name] = value;
  }
  return { inputs: taken };
}

const fits = (value: Scalar, input: Input): boolean => typeof value === (input.type ?? 'string');

function status(batch: Batch, command: CommandOf<'status'>): Refusal | undefined {
  const found = locate(batch.definition, batch.state, command.at);
  if ('refusal' in found) return command.at === undefined ? undefined : found.refusal;
  const cursor = 'cursor' in found ? found.cursor : onlyCursor(batch.state);
  if (!cursor || interrupt(batch, cursor, command)) return undefined;
  offerBoundary(batch, cursor, command.session, command.at !== undefined);
  return undefined;
}

function knownPlace(definition: Definition, saved: CommandOf<'import'>['state']): boolean {
  const step = definition.steps.find((candidate) => candidate.id === saved.step);
  if (!step || !saved.task) return step !== undefined;
  return subStepsOf(definition, step).some((sub) => sub.id === saved.subStep);
}

function rewind(batch: Batch, command: CommandOf<'rewind'>): Refusal | undefined {
  const { definition, state } = batch;
  const current = stepIndex(definition, state.step);
  const index = stepIndex(definition, command.to);
  if (index < 0 || index > current) {
    const steps = definition.steps.slice(0, current + 1).map((step) => step.id);
    const message = `the run cannot go back to '${command.to.slice(0, 80)}'`;
    return refuse('unknown_step', message, `name one of ${steps.join(', ')}`);
  }
  batch.emit('run.rewound', { to: command.to });
  enterStep(batch, command.to, given({ tree: command.tree }));
  return undefined;
}
