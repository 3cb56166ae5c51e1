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

/** Names that become folders and branches here: what the machine would have accepted. */
const taskPattern = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/** Every long text that a value names, each once. */
export function digestsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  if ('opening' in value && 'digest' in value && typeof value.digest === 'string') return [value.digest];
  return [...new Set(Object.values(value).flatMap(digestsIn))];
}

/** Trust hangs on the hash of a workflow, so it is never taken from whoever sent it. */
export const matchesHash = ({ definition, hash }: { definition: Definition; hash: string }): boolean =>
  hashDefinition(definition) === hash;

/** The type of an event that this Stepfast does not know. */
export const unknownEvent = (entries: readonly { events: readonly Event[] }[]): string | undefined =>
  entries
    .flatMap(({ events }) => events.map((event) => String(event?.type)))
    .find((type) => !isKnownEvent(type))
    ?.slice(0, 40);

/**
 * The state after each entry of a run that came from elsewhere: nothing in it is what it seems until it was looked at.
 * Throws `bad_history`, which says what is wrong.
 */
export function verifiedStates(
  run: string,
  { definition, hash }: { definition: Definition; hash: string },
  entries: readonly { events: Event[] }[],
): State[] {
  const problem = definitionProblem(definition);
  if (problem !== undefined) throw bad(`its workflow is not valid here: ${problem}`);
  for (const [index, entry] of entries.entries()) {
    const place = `entry ${index + 1} of ${entries.length}`;
    if (!isBatch(entry)) throw bad(`${place} is no batch`);
    for (const [position, event] of entry.events.entries()) {
      const wrong = eventProblem(event) ?? misplacedEvent(event, index, position);
      if (wrong !== undefined) throw bad(`${place} cannot be: ${wrong}`);
    }
  }
  const states = statesOf(run, definition, entries);
  const state = states.at(-1);
  if (!state) throw bad('it is empty');
  if (state.workflow !== definition.name || (state.hash ?? hash) !== hash)
    throw bad('it was begun with another workflow');
  requireUsable(definition, state);
  return states;
}

const bad = (why: string): StepfastError => new StepfastError('bad_history', why);

/** What is said once, at the beginning. */
function misplacedEvent({ type }: Event, entry: number, position: number): string | undefined {
  const first = entry === 0 && position === 0;
  if ((type === 'run.started') !== first) return first ? `it begins with ${type}` : 'it begins twice';
  return type === 'run.imported' && entry > 0 ? 'it is imported in its middle' : undefined;
}

/** What everybody does next with a run must not fail on what a stranger put into it. */
function requireUsable(definition: Definition, state: State): void {
  try {
    for (const [key, cursor] of Object.entries(state.cursors)) {
      if (!isPositionOf(definition, state, key, cursor))
        throw new Error(`it stands at ${cursor.path}, which is no place`);
      statusOf(definition, state, { cursor });
    }
    statusOf(definition, state);
    projectState(definition, state);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new StepfastError('bad_history', `it cannot be followed (${why})`, { cause });
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

/** The state after each entry. Throws `bad_history` where the machine cannot follow. */
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
      if (task !== undefined) throw new Error(`${JSON.stringify(task.slice(0, 80))} is no name of a task`);
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
