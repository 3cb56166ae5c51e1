import type { Definition, Event, State } from '../../src/machine/index.ts';
import { must } from './check.ts';

/** No task is lost or skipped, and no step is passed over, without an event that says so. */
export class TaskWatch {
  readonly #definition: Definition;
  /** What was said of the tasks of each loop that the run is at or was at: an end, or nothing yet. */
  readonly #tasks = new Map<string, Map<string, string | undefined>>();
  readonly #completed = new Set<string>();

  constructor(definition: Definition) {
    this.#definition = definition;
  }

  see(event: Event, after: State): void {
    switch (event.type) {
      case 'tasks.set':
        this.#sawList(event, after);
        break;
      case 'task.ended':
      case 'task.dropped': {
        const { loop, task } = event;
        const known = this.#of(loop);
        must(known.has(task), `${loop}/${task} is a task before it ends`);
        must(known.get(task) === undefined, `task ${loop}/${task} ends once`);
        known.set(task, event.type === 'task.ended' ? event.end : 'dropped');
        break;
      }
      case 'step.completed':
        for (const [task, end] of this.#of(event.step))
          must(end !== undefined, `task ${task} has ended when its loop is left`);
        this.#completed.add(event.step);
        break;
      case 'step.skipped':
        must(
          this.#definition.steps.some(({ id, when }) => id === event.step && when !== undefined),
          `step ${event.step} is skipped by its when`,
        );
        this.#completed.add(event.step);
        break;
      case 'run.completed':
        for (const { id } of this.#definition.steps)
          must(this.#completed.has(id), `step ${id} was completed or skipped when the run is complete`);
        break;
      case 'run.rewound':
      case 'run.pivoted':
        this.#sawVoided(event);
        break;
      default:
    }
    this.#compare(after);
  }

  /** Until the run is at the loop, a list may be replaced; from then on nothing of it may be missing. */
  #sawList({ loop, tasks }: Extract<Event, { type: 'tasks.set' }>, { step }: State): void {
    const known = this.#of(loop);
    const listed = new Set(tasks.map(({ id }) => id));
    if (step === loop)
      for (const [task, end] of known)
        must(end !== undefined || listed.has(task), `unfinished task ${loop}/${task} stays in its list`);
    for (const task of [...known.keys()]) if (!listed.has(task)) known.delete(task);
    for (const { id, end } of tasks) known.set(id, known.get(id) ?? end);
  }

  #sawVoided({ type, to }: Extract<Event, { type: 'run.rewound' | 'run.pivoted' }>): void {
    const steps = this.#definition.steps.map(({ id }) => id);
    for (const step of steps.slice(steps.indexOf(to))) {
      this.#completed.delete(step);
      const known = this.#of(step);
      for (const [task, end] of known) known.set(task, end === 'dropped' ? end : undefined);
      // A pivot drops the lists. A rewind begins their tasks anew, except for those that a person removed.
      const isLeft = [...known.values()].includes(undefined);
      if (type === 'run.pivoted' || !isLeft) this.#tasks.delete(step);
    }
  }

  /** The state says of every task what the events said. */
  #compare({ tasks }: State): void {
    for (const { id: loop, type } of this.#definition.steps) {
      if (type !== 'loop') continue;
      const { order = [], byId = {} } = Object.hasOwn(tasks, loop) ? (tasks[loop] ?? {}) : {};
      const known = this.#of(loop);
      must(order.length === known.size, `${loop} has the tasks that were set: ${order.join(', ')}`);
      for (const task of order) {
        must(known.has(task), `task ${loop}/${task} was set`);
        must(byId[task]?.end === known.get(task), `an event says how ${loop}/${task} ended`);
      }
    }
  }

  #of(loop: string): Map<string, string | undefined> {
    const known = this.#tasks.get(loop) ?? new Map<string, string | undefined>();
    this.#tasks.set(loop, known);
    return known;
  }
}
