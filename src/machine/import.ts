import type { Definition, Task, WorkflowState } from '../schema/index.ts';
import { cursorKey, formatHandle, type Position, pathOf } from './handle.ts';
import { own } from './own-property.ts';
import type { Cursor, State } from './state.ts';
import { awaitsTasks, contextAt, dependantsOf, loopIdOf, stepIndex, stepOf, taskListOf } from './steps.ts';

/** Turns a saved `WorkflowState` into a run. Its outputs have no receipts, and each counts as the first visit of its path. */
export function importWorkflowState(
  definition: Definition,
  base: State,
  saved: WorkflowState,
  now: number,
): State {
  const state: State = {
    ...base,
    status: saved.status,
    step: saved.step,
    artefacts: [...saved.artefacts],
    ...(saved.summary === undefined ? {} : { summary: saved.summary }),
    visits: Object.fromEntries(Object.keys(saved.outputs).map((key) => [pathOfKey(definition, key), 1])),
    outputs: Object.fromEntries(
      Object.entries(saved.outputs).map(([key, text]) => [
        key,
        { text, at: formatHandle(base.run, pathOfKey(definition, key), 1), now, receipts: [] },
      ]),
    ),
    tasks: Object.fromEntries(
      Object.entries(saved.tasks).map(([id, tasks]) => [
        loopNamed(definition, id),
        {
          order: tasks.map((task) => task.id),
          byId: Object.fromEntries(importTasks(tasks).map((task) => [task.id, task])),
        },
      ]),
    ),
  };
  return saved.status === 'running' ? openAt(definition, state, saved, now) : { ...state, cursors: {} };
}

function openAt(definition: Definition, state: State, saved: WorkflowState, now: number): State {
  const position: Position = { step: saved.step };
  if (saved.ralphIteration !== undefined) position.iteration = saved.ralphIteration;
  if (saved.task && saved.subStep !== undefined) {
    position.task = saved.task.id;
    position.subStep = saved.subStep;
  }
  const listed = taskListOf(state, stepOf(definition, position.step));
  // The loop has tasks but none is open, so the first ready task is next.
  if (awaitsTasks(definition, position) && listed) return { ...state, cursors: {} };
  const path = pathOf(position);
  const visit = (own(state.visits, path) ?? 0) + 1;
  const cursor: Cursor = {
    ...position,
    path,
    visit,
    enteredAt: now,
    failures: 0,
    reds: 0,
    checks: 0,
    stops: 0,
  };
  const action = contextAt(definition, arriving(definition, state, position), position);
  if (action) {
    cursor.boundary = saved.contextActionExecuted
      ? { action, state: 'released', how: 'skipped' }
      : { action, state: 'pending' };
  }
  return { ...state, cursors: { [cursorKey(position)]: cursor }, visits: { ...state.visits, [path]: visit } };
}

/** The first position of a step takes the action of the transition that led there. */
function arriving(definition: Definition, state: State, position: Position): State {
  const from = definition.steps[stepIndex(definition, position.step) - 1]?.id;
  const transition = definition.transitions?.find((one) => one.from === from && one.to === position.step);
  const begun = Object.keys(state.outputs).some((key) => key.startsWith(`${position.step}.`));
  return transition?.context && !begun ? { ...state, arrival: transition.context } : state;
}

/** The seeds name a loop by its own id or by its step's. */
export function loopNamed(definition: Definition, id: string): string {
  const step = definition.steps.find((candidate) => candidate.id === id && candidate.type === 'loop');
  return step ? loopIdOf(step) : id;
}

/** A task id may hold dots; the ids of steps and sub-steps cannot. */
function pathOfKey(definition: Definition, key: string): string {
  const [step = '', ...rest] = key.split('.');
  const last = rest.pop();
  if (last === undefined) return step;
  const isLoop = definition.steps.some(({ id, type }) => id === step && type === 'loop');
  return isLoop ? `${step}/${rest.join('.')}/${last}` : `${step}/${last}`;
}

/** Tasks that depend on a failed task are skipped. */
function importTasks(saved: WorkflowState['tasks'][string]): Task[] {
  const tasks = saved.map(({ status, ...task }): Task => {
    return status === 'done' || status === 'failed' ? { ...task, end: status } : task;
  });
  const dependants = dependantsOf(tasks);
  const lost = tasks.filter(({ end }) => end === 'failed').map(({ id }) => id);
  for (const id of lost) {
    for (const task of dependants.get(id) ?? []) {
      if (task.end !== undefined) continue;
      task.end = 'skipped';
      lost.push(task.id);
    }
  }
  return tasks;
}
