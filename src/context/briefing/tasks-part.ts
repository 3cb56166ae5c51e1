import {
  type Cursor,
  type Definition,
  isSatisfied,
  type State,
  type Step,
  undroppedTasks,
} from '../../machine/index.ts';
import { oneLine } from './bounded-text.ts';
import type { ListedPart } from './briefing-part.ts';
import type { BriefingSource } from './briefing-source.ts';
import { maxItem, maxLabel } from './budget-bounds.ts';
import { truncate, truncateLine } from './text-size.ts';

type TaskList = State['tasks'][string];

/** Tasks of all loops, this step's loop first: open, then done. The DONE part shows failed tasks. */
export function tasksPart({ definition, state, cursor }: BriefingSource): ListedPart {
  const here = definition.steps.find(({ id }) => id === state.step);
  const names = Object.keys(state.tasks);
  const current = names.filter((loop) => loop === (here?.loop ?? here?.id));
  const lists = [...current, ...names.filter((loop) => !current.includes(loop))].map((loop) =>
    split(loop, state.tasks[loop], current.includes(loop) ? cursor?.task : undefined),
  );
  return {
    name: 'tasks',
    total: lists.reduce((sum, { open, done }) => sum + 1 + open.length + done.length, 0),
    items: (function* () {
      for (const { loop, open, done, total } of lists) {
        yield truncate(`- ${oneLine(loop)}: ${done.length} of ${total} done`, maxItem);
        const held = holders(definition, state, loop);
        const free = current.includes(loop) && canClaim(here, state) ? 'ready' : 'not started';
        for (const id of open)
          yield taskLine(state.tasks[loop], id, openState(state.tasks[loop], id, held, free));
        for (const id of done) yield taskLine(state.tasks[loop], id, 'done');
      }
    })(),
  };
}

/** Leaves out the position's own task, which the RUN part shows. */
function split(loop: string, list: TaskList | undefined, own: string | undefined) {
  const open: string[] = [];
  const done: string[] = [];
  for (const id of list?.order ?? []) {
    const end = taskIn(list, id)?.end;
    if (end === 'done') done.push(id);
    else if (end === undefined && id !== own) open.push(id);
  }
  return { loop, open, done, total: undroppedTasks(list).length };
}

const taskIn = (list: TaskList | undefined, id: string) =>
  list !== undefined && Object.hasOwn(list.byId, id) ? list.byId[id] : undefined;

function holders({ steps }: Definition, { cursors }: State, loop: string): Map<string, Cursor> {
  const users = steps.filter((step) => (step.loop ?? step.id) === loop).map(({ id }) => id);
  return new Map(
    Object.values(cursors).flatMap((cursor) =>
      cursor.task !== undefined && users.includes(cursor.step) ? [[cursor.task, cursor] as const] : [],
    ),
  );
}

/** Whether a task can be claimed now. */
const canClaim = (step: Step | undefined, { status, budget, cursors }: State): boolean =>
  step?.type === 'loop' &&
  status === 'running' &&
  budget.exhausted === undefined &&
  Object.keys(cursors).length < (step.parallel ?? 1);

function openState(
  list: TaskList | undefined,
  id: string,
  held: Map<string, Cursor>,
  free: 'ready' | 'not started',
): string {
  const cursor = held.get(id);
  if (cursor) return heldState(cursor);
  const needs = taskIn(list, id)?.depends_on ?? [];
  const missing = needs.filter((each) => !isSatisfied(taskIn(list, each)));
  return missing.length === 0 ? free : truncate(`waiting for ${missing.join(', ')}`, maxLabel);
}

function heldState({ waiting, lease }: Cursor): string {
  switch (waiting?.kind) {
    case 'review':
      return `waiting for a review by ${waiting.by === 'human' ? 'a person' : `'${waiting.by}'`}`;
    case 'question':
      return 'waiting for an answer';
    case 'blocked':
      return 'blocked, waiting for a person';
    default:
      return lease ? `held by ${oneLine(lease.holder)}` : 'in progress';
  }
}

const taskLine = (list: TaskList | undefined, id: string, state: string): string =>
  truncate(oneLine(`- ${id} (${truncateLine(state, maxLabel)}): ${taskIn(list, id)?.title ?? ''}`), maxItem);
