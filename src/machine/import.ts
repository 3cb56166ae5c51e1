import type { Definition } from './definition.ts';
import { cursorKey, formatHandle, type Place, pathOf } from './handle.ts';
import type { Cursor, State, Task } from './state.ts';
import { contextAt, loopIdOf, stepIndex } from './steps.ts';
import type { WorkflowState } from './workflow-state.ts';

/** A saved `WorkflowState` as a run: its outputs carry no evidence, each counts as the first visit of its path. */
export function importWorkflowState(
  definition: Definition,
  base: State,
  saved: WorkflowState,
  now: number,
): State {
  const paths = Object.keys(saved.outputs).map((key) => key.replaceAll('.', '/'));
  const state: State = {
    ...base,
    status: saved.status,
    step: saved.step,
    artefacts: [...saved.artefacts],
    ...(saved.summary === undefined ? {} : { summary: saved.summary }),
    visits: Object.fromEntries(paths.map((path) => [path, 1])),
    outputs: Object.fromEntries(
      Object.entries(saved.outputs).map(([key, text]) => [
        key,
        { text, at: formatHandle(base.run, key.replaceAll('.', '/'), 1), now, receipts: [] },
      ]),
    ),
    tasks: Object.fromEntries(
      Object.entries(saved.tasks).map(([id, tasks]) => [
        loopNamed(definition, id),
        {
          order: tasks.map((task) => task.id),
          byId: Object.fromEntries(tasks.map((task) => [task.id, importTask(task)])),
        },
      ]),
    ),
  };
  return saved.status === 'running' ? openAt(definition, state, saved, now) : { ...state, cursors: {} };
}

function openAt(definition: Definition, state: State, saved: WorkflowState, now: number): State {
  const place: Place = { step: saved.step };
  if (saved.ralphIteration !== undefined) place.iteration = saved.ralphIteration;
  if (saved.task && saved.subStep !== undefined) {
    place.task = saved.task.id;
    place.subStep = saved.subStep;
  }
  const path = pathOf(place);
  const visit = (state.visits[path] ?? 0) + 1;
  const cursor: Cursor = { ...place, path, visit, enteredAt: now, failures: 0, reds: 0, checks: 0, stops: 0 };
  const action = contextAt(definition, arriving(definition, state, place), place);
  if (action) {
    cursor.boundary = saved.contextActionExecuted
      ? { action, state: 'released', how: 'skipped' }
      : { action, state: 'pending' };
  }
  return { ...state, cursors: { [cursorKey(place)]: cursor }, visits: { ...state.visits, [path]: visit } };
}

/** The first position of a step takes the action of the transition that led there. */
function arriving(definition: Definition, state: State, place: Place): State {
  const from = definition.steps[stepIndex(definition, place.step) - 1]?.id;
  const transition = definition.transitions?.find((one) => one.from === from && one.to === place.step);
  const begun = Object.keys(state.outputs).some((key) => key.startsWith(`${place.step}.`));
  return transition?.context && !begun ? { ...state, arrival: transition.context } : state;
}

/** The seeds name a loop by its own id or by its step's. */
export function loopNamed(definition: Definition, id: string): string {
  const step = definition.steps.find((candidate) => candidate.id === id && candidate.type === 'loop');
  return step ? loopIdOf(step) : id;
}

function importTask({ status, ...task }: WorkflowState['tasks'][string][number]): Task {
  return status === 'done' || status === 'failed' ? { ...task, end: status } : task;
}
