import { type Cursor, type Definition, isSatisfied, type State } from '../../machine/index.ts';

/** What became of each task of a loop, or what it waits for; in the order of the list. */
export function taskStates(
  { steps }: Definition,
  { cursors, tasks }: State,
  loop: string,
): Map<string, string> {
  const { order = [], byId = {} } = Object.hasOwn(tasks, loop) ? (tasks[loop] ?? {}) : {};
  const users = steps.filter((step) => (step.loop ?? step.id) === loop).map(({ id }) => id);
  const held = new Map(
    Object.values(cursors).flatMap((cursor) =>
      cursor.task !== undefined && users.includes(cursor.step) ? [[cursor.task, cursor] as const] : [],
    ),
  );
  const taskOf = (id: string) => (Object.hasOwn(byId, id) ? byId[id] : undefined);
  return new Map(
    order.map((id) => {
      const task = taskOf(id);
      const cursor = held.get(id);
      if (task?.end !== undefined) return [id, task.end];
      if (cursor) return [id, heldState(cursor)];
      const missing = task?.depends_on?.filter((each) => !isSatisfied(taskOf(each))) ?? [];
      return [id, missing.length === 0 ? 'ready' : `waits for ${missing.join(', ')}`];
    }),
  );
}

function heldState({ waiting, lease }: Cursor): string {
  switch (waiting?.kind) {
    case 'review':
      return `waits for a review by ${waiting.by === 'human' ? 'the user' : `'${waiting.by}'`}`;
    case 'question':
      return "waits for the user's answer";
    case 'blocked':
      return 'is stuck and waits for the user';
    default:
      return lease ? `held by ${lease.holder}` : 'under way';
  }
}
