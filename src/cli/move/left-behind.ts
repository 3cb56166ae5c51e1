import type { Definition, State } from '../../machine/index.ts';
import { lasting, printable } from '../../messages/index.ts';
import type { Io } from '../io.ts';
import { paint } from '../paint.ts';

/** What of a run stays on its machine, where it has such a thing. */
export function travelNotes(definition: Definition, state: State, now: number): string[] {
  const deadlines = Object.values(state.cursors).flatMap(({ checking }) => checking?.deadline ?? []);
  const left = Math.max(0, ...deadlines) - now;
  return [
    ...(deadlines.length === 0
      ? []
      : [
          `its gates were running, and only the machine that runs them can report: push again when they have ended${left > 0 ? `, or they count as interrupted in ${lasting(left)}` : ''}`,
        ]),
    ...(hasTaskBranches(definition, state)
      ? [
          `the work of its tasks is on branches stepfast/${state.run}/*, and files and branches travel by git alone: push and fetch them too`,
        ]
      : []),
  ];
}

export function sayNotes(notes: readonly string[], io: Io): void {
  for (const note of notes) io.stderr.write(`${paint(io.stderr, 'yellow', 'note')}  ${printable(note)}\n`);
}

/** Where several agents work, each started task has a worktree and a branch of its own. */
const hasTaskBranches = ({ steps }: Definition, { tasks, cursors }: State): boolean =>
  steps.some(({ id, loop = id, parallel = 1 }) => {
    const list = parallel > 1 && Object.hasOwn(tasks, loop) ? tasks[loop] : undefined;
    const started = Object.values(cursors).flatMap(({ task }) => task ?? []);
    return list?.order.some((task) => list.byId[task]?.end !== undefined || started.includes(task)) ?? false;
  });
