import { hashDefinition } from '../../definition/index.ts';
import { StepfastError } from '../../errors.ts';
import { type Definition, type Event, type EventType, replay, type State } from '../../machine/index.ts';

/** Complete by its type: what the machine does not know it would pass over in silence. */
const eventTypes: Record<EventType, true> = {
  'run.started': true,
  'run.adopted': true,
  'run.imported': true,
  'run.completed': true,
  'run.failed': true,
  'run.cancelled': true,
  'run.blocked': true,
  'run.rewound': true,
  'run.pivoted': true,
  'step.entered': true,
  'step.completed': true,
  'position.entered': true,
  'position.completed': true,
  'position.failed': true,
  'position.blocked': true,
  'tasks.set': true,
  'task.ended': true,
  'lease.renewed': true,
  'gates.requested': true,
  'gates.started': true,
  'gates.finished': true,
  'gates.interrupted': true,
  'review.requested': true,
  'review.decided': true,
  'budget.spent': true,
  'budget.exhausted': true,
  'budget.extended': true,
  'question.asked': true,
  'question.answered': true,
  'note.added': true,
  'todo.replaced': true,
  'file.read': true,
  'artifacts.loaded': true,
  'boundary.requested': true,
  'boundary.reset': true,
  'boundary.released': true,
  'briefing.delivered': true,
  'session.started': true,
  'session.ended': true,
  'session.reset': true,
  'stop.held': true,
};

/** Names that become folders and branches here: what the machine would have accepted. */
const taskPattern = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/** Every long text that a value names, each once. */
export function digestsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  if ('opening' in value && 'digest' in value && typeof value.digest === 'string') return [value.digest];
  return [...new Set(Object.values(value).flatMap(digestsIn))];
}

/** Trust hangs on the hash of a workflow, so it is never taken from whoever sent it. */
export const hasItsHash = ({ definition, hash }: { definition: Definition; hash: string }): boolean =>
  hashDefinition(definition) === hash;

/** The type of an event that this Stepfast does not know. */
export const unknownEvent = (entries: readonly { events: readonly Event[] }[]): string | undefined =>
  entries
    .flatMap(({ events }) => events.map((event) => String(event?.type)))
    .find((type) => !Object.hasOwn(eventTypes, type))
    ?.slice(0, 40);

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
