import type { Definition, State } from '../../machine/index.ts';
import { count, lasting, printable } from '../../messages/index.ts';
import type { Outgoing } from '../../runtime/index.ts';
import type { Io } from '../io.ts';
import { paint } from '../paint.ts';

/** Warnings about state that a transfer leaves behind on the machine. */
export function transferNotes(definition: Definition, state: State, now: number): string[] {
  const deadlines = Object.values(state.cursors).flatMap(({ checking }) => checking?.deadline ?? []);
  const left = Math.max(0, ...deadlines) - now;
  return [
    ...(deadlines.length === 0
      ? []
      : [
          `its gates are running on the machine that pushes it: push again from there when they finish${left > 0 ? `, or they count as interrupted in ${lasting(left)}` : ''}`,
        ]),
    ...(hasTaskBranches(definition, state)
      ? [`task work is on the branches stepfast/${state.run}/*: push and fetch them with git`]
      : []),
  ];
}

/** Files that git does not bring to the other machine. */
export function uncommittedNotes({ needed, others, total }: Outgoing['uncommitted']): string[] {
  const more = (names: readonly string[], all: number): string =>
    `${names.slice(0, mostNamed).join(', ')}${all > mostNamed ? ` and ${all - mostNamed} more` : ''}`;
  return [
    ...(needed.length === 0
      ? []
      : [
          `the run needs files that are not committed: ${more(needed, needed.length)}. Commit and push them with git`,
        ]),
    ...(total === 0 ? [] : [`${count(total, 'other uncommitted path')}: ${more(others, total)}`]),
  ];
}

const mostNamed = 5;

export function printNotes(notes: readonly string[], io: Io): void {
  for (const note of notes) io.stderr.write(`${paint(io.stderr, 'yellow', 'note')}  ${printable(note)}\n`);
}

/** In parallel loops, each started task has its own worktree and branch. */
const hasTaskBranches = ({ steps }: Definition, { tasks, cursors }: State): boolean =>
  steps.some(({ id, loop = id, parallel = 1 }) => {
    const list = parallel > 1 && Object.hasOwn(tasks, loop) ? tasks[loop] : undefined;
    const started = Object.values(cursors).flatMap(({ task }) => task ?? []);
    return list?.order.some((task) => list.byId[task]?.end !== undefined || started.includes(task)) ?? false;
  });
