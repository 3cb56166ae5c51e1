import type { Definition, Task } from '../schema/index.ts';
import type { Draft } from './draft.ts';
import { own, without } from './own-property.ts';
import { loopIdOf, stepIndex } from './steps.ts';

/** What was done from a step on no longer counts. Task lists stay, their progress does not; a list without a task is none. */
export function voidFrom(definition: Definition, draft: Draft, to: string): void {
  const state = draft.root;
  const from = stepIndex(definition, to);
  const later = new Set(definition.steps.slice(from).map((step) => step.id));
  state.status = 'running';
  state.cursors = {};
  delete state.reason;
  delete state.cleanup;
  delete state.last;
  delete state.blocked;
  delete state.merges;
  delete state.held;
  if (state.skipped) state.skipped = without(state.skipped, (key) => later.has(key.split('.', 1)[0] ?? ''));
  state.outputs = without(state.outputs, (key) => later.has(key.split('.', 1)[0] ?? ''));
  for (const step of definition.steps.slice(from)) {
    const list = own(state.tasks, loopIdOf(step));
    if (step.type !== 'loop' || !list) continue;
    const fresh = ({ end, endedAt: _, ...task }: Task): Task => (end === 'dropped' ? { ...task, end } : task);
    const byId = Object.fromEntries(Object.entries(list.byId).map(([id, task]) => [id, fresh(task)]));
    // The loop asks for tasks again where none would be left to do.
    if (Object.values(byId).every((task) => task.end !== undefined))
      delete draft.edit('tasks')[loopIdOf(step)];
    else draft.edit('tasks')[loopIdOf(step)] = { order: list.order, byId };
  }
}

/** After a pivot the old plan's tasks are not the new plan's. */
export function dropTasks(definition: Definition, draft: Draft, to: string): void {
  for (const step of definition.steps.slice(stepIndex(definition, to))) {
    if (step.type === 'loop') delete draft.edit('tasks')[loopIdOf(step)];
  }
}
