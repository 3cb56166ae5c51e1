import { definitionProblem, hashDefinition } from '../../definition/index.ts';
import { StepfastError } from '../../errors.ts';
import {
  type Cursor,
  type Definition,
  type Event,
  replay,
  type State,
  statusOf,
} from '../../machine/index.ts';
import { eventProblem, isKnownEvent } from '../../schema/index.ts';
import { isBatch, projectState } from '../../store/index.ts';

/** Task ids become folder and branch names, so they are checked as the machine does. */
const taskPattern = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/** The digests of all long texts in a value, without duplicates. */
export function digestsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  if ('opening' in value && 'digest' in value && typeof value.digest === 'string') return [value.digest];
  return [...new Set(Object.values(value).flatMap(digestsIn))];
}

/** Trust depends on the hash of a workflow, so the hash of a sender is never accepted unchecked. */
export const matchesHash = ({ definition, hash }: { definition: Definition; hash: string }): boolean =>
  hashDefinition(definition) === hash;

/** The type of an event that this Stepfast does not know. */
export const unknownEvent = (entries: readonly { events: readonly Event[] }[]): string | undefined =>
  entries
    .flatMap(({ events }) => events.map((event) => String(event?.type)))
    .find((type) => !isKnownEvent(type))
    ?.slice(0, 40);

/**
 * Verifies an untrusted run and returns the state after each entry. Throws `bad_history` with the problem.
 */
export function verifiedStates(
  run: string,
  { definition, hash }: { definition: Definition; hash: string },
  entries: readonly { events: Event[] }[],
): State[] {
  const problem = definitionProblem(definition);
  if (problem !== undefined) throw bad(`its workflow is not valid here: ${problem}`);
  for (const [index, entry] of entries.entries()) {
    const where = `entry ${index + 1} of ${entries.length}`;
    if (!isBatch(entry)) throw bad(`${where} is not a batch`);
    for (const [position, event] of entry.events.entries()) {
      const wrong = eventProblem(event) ?? misplacedEvent(event, index, position);
      if (wrong !== undefined) throw bad(`${where} is not valid: ${wrong}`);
    }
  }
  const states = statesOf(run, definition, entries);
  const state = states.at(-1);
  if (!state) throw bad('it is empty');
  if (state.workflow !== definition.name || (state.hash ?? hash) !== hash)
    throw bad('it was started with another workflow');
  requireUsable(definition, state);
  return states;
}

const bad = (why: string): StepfastError => new StepfastError('bad_history', why);

/** Events that may occur only at the beginning. */
function misplacedEvent({ type }: Event, entry: number, position: number): string | undefined {
  const first = entry === 0 && position === 0;
  if ((type === 'run.started') !== first) return first ? `it begins with ${type}` : 'it begins twice';
  return type === 'run.imported' && entry > 0 ? 'it is imported in its middle' : undefined;
}

/** Status and projection must not fail on an untrusted run. */
function requireUsable(definition: Definition, state: State): void {
  try {
    for (const [key, cursor] of Object.entries(state.cursors)) {
      if (!isPositionOf(definition, state, key, cursor))
        throw new Error(`its position ${cursor.path} does not exist in the workflow`);
      statusOf(definition, state, { cursor });
    }
    statusOf(definition, state);
    projectState(definition, state);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new StepfastError('bad_history', `it cannot be replayed (${why})`, { cause });
  }
}

function isPositionOf(definition: Definition, state: State, key: string, cursor: Cursor): boolean {
  const { step: id, task, subStep, iteration } = cursor;
  const step = definition.steps.find((each) => each.id === id);
  if (!step || id !== state.step) return false;
  if (step.type === 'ralph') return key === id && iteration !== undefined && task === undefined;
  if (step.type === 'action' || task === undefined)
    return key === id && [task, subStep, iteration].every((part) => part === undefined);
  const loop = step.loop ?? step.id;
  const subSteps = own(definition.loops, loop) ?? [];
  const known = own(own(state.tasks, loop)?.byId, task) !== undefined;
  return key === `${id}/${task}` && known && subSteps.some((each) => each.id === subStep);
}

const own = <T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined =>
  record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;

/** The state after each entry. Throws `bad_history` if the machine cannot replay it. */
export function statesOf(
  run: string,
  definition: Definition,
  entries: readonly { events: Event[] }[],
): State[] {
  let state: State | null = null;
  return entries.map(({ events }, index) => {
    try {
      state = replay(definition, state, events);
      if (state.run !== run) throw new Error(`it is the run ${state.run}`);
      const task = index < entries.length - 1 ? undefined : badTask(state);
      if (task !== undefined) throw new Error(`${JSON.stringify(task.slice(0, 80))} is not a valid task id`);
      return state;
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      const message = `does not replay, entry ${index + 1} of ${entries.length}: ${why}`;
      throw new StepfastError('bad_history', message, { cause });
    }
  });
}

const badTask = ({ tasks, cursors }: State): string | undefined =>
  [
    ...Object.values(tasks).flatMap(({ order, byId }) => [...order, ...Object.keys(byId)]),
    ...Object.values(cursors).flatMap(({ task }) => task ?? []),
  ].find((id) => !taskPattern.test(id));
