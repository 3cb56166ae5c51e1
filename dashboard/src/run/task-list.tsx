import { type JSX, useMemo, useState } from 'react';
import type { TaskPage } from '../api-types.ts';
import { Glyph } from '../ui/glyph.tsx';
import { stepMark, stepWord } from '../ui/marks.ts';
import { taskHint, taskMark } from './task-hint.ts';
import css from './workflow.module.css';

export interface TasksProps {
  tasks: TaskPage[];
  onOpen(task: string): void;
}

const shownAtFirst = 100;
/** What was done last stays in sight. */
const doneBefore = 5;

/** Indented by the longest chain of dependencies before a task. Of many tasks, those around the work are shown first. */
export function TaskList({ tasks, onOpen }: TasksProps): JSX.Element {
  const [isAll, setAll] = useState(tasks.length <= shownAtFirst);
  const depths = useMemo(() => depthsOf(tasks), [tasks]);
  const open = tasks.findIndex(({ end }) => end === undefined);
  const from = isAll ? 0 : Math.max(0, Math.min(open - doneBefore, tasks.length - shownAtFirst));
  const shown = isAll ? tasks : tasks.slice(from, from + shownAtFirst);
  return (
    <ul className={css.tasks}>
      {!isAll && (
        <li>
          <button type="button" onClick={() => setAll(true)}>
            <span className={css.task}>
              {from + 1} to {from + shown.length} of {tasks.length}
            </span>
            <span className={css.hint}>Show all</span>
          </button>
        </li>
      )}
      {shown.map((task) => (
        <li
          key={task.id}
          data-mark={taskMark(task)}
          style={{ paddingLeft: Math.min(4, depths.get(task.id) ?? 0) * 14 }}
        >
          <button type="button" onClick={() => onOpen(task.id)}>
            <Glyph mark={taskMark(task)} size={14} label={stepWord(task.tone)} />
            <span className={css.task}>{task.title}</span>
            <SubSteps task={task} />
            <span className={css.hint}>{taskHint(task, tasks)}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

export const SubSteps = ({ task }: { task: TaskPage }): JSX.Element => (
  <span className={css.subSteps} aria-hidden="true">
    {task.subSteps.map(({ id, title, tone }) => (
      <i key={id} title={title} data-mark={stepMark[tone]} />
    ))}
  </span>
);

function depthsOf(tasks: TaskPage[]): Map<string, number> {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const depths = new Map<string, number>();
  const depthOf = (id: string): number => {
    const known = depths.get(id);
    if (known !== undefined) return known;
    depths.set(id, 0); // A cycle ends here.
    const before = (byId.get(id)?.dependsOn ?? []).filter((each) => byId.has(each));
    const depth = before.length === 0 ? 0 : Math.max(...before.map(depthOf)) + 1;
    depths.set(id, depth);
    return depth;
  };
  for (const { id } of tasks) depthOf(id);
  return depths;
}
