import { X } from 'lucide-react';
import type { JSX } from 'react';
import type { CheckPage, TaskPage } from '../api-types.ts';
import { classNames } from '../ui/class-names.ts';
import { Glyph } from '../ui/glyph.tsx';
import { stepMark, stepWord } from '../ui/marks.ts';
import ui from '../ui/ui.module.css';
import { type Shown, worstIn } from './gate-choice.ts';
import { taskHint, taskMark } from './task-hint.ts';
import css from './workflow.module.css';

interface Props {
  task: TaskPage;
  tasks: readonly TaskPage[];
  evidence: readonly CheckPage[];
  onShow(shown: Shown): void;
  onClose(): void;
}

export function TaskDetails({ task, tasks, evidence, onShow, onClose }: Props): JSX.Element {
  const check = evidence.find(({ path }) => path.split('/').includes(task.id));
  const before = tasks.filter(({ id }) => task.dependsOn.includes(id));
  const after = tasks.filter(({ dependsOn }) => dependsOn.includes(task.id));
  return (
    <section className={css.details} aria-labelledby="task">
      <header>
        <Glyph mark={taskMark(task)} label={stepWord(task.tone)} />
        <h3 id="task">{task.title}</h3>
        <span className={ui.muted}>{taskHint(task, tasks)}</span>
        <span className={ui.grow} />
        {check && (
          <button
            type="button"
            className={classNames(ui.btn, ui.small)}
            onClick={() => onShow(worstIn(check))}
          >
            See its evidence
          </button>
        )}
        <button
          type="button"
          className={classNames(ui.btn, ui.small, ui.icon)}
          aria-label="Close the task"
          onClick={onClose}
        >
          <X size={14} aria-hidden="true" />
        </button>
      </header>
      {task.description !== undefined && <p className={ui.pre}>{task.description}</p>}
      <dl>
        {task.subSteps.length > 0 && (
          <Row name="Steps">
            {task.subSteps.map(({ id, title, tone }) => (
              <li key={id}>
                <Glyph mark={stepMark[tone]} size={12} isQuiet />
                {title} <span className={ui.muted}>{stepWord(tone)}</span>
              </li>
            ))}
          </Row>
        )}
        {before.length > 0 && <Row name="After">{before.map(titled)}</Row>}
        {after.length > 0 && <Row name="Before">{after.map(titled)}</Row>}
      </dl>
    </section>
  );
}

const titled = (task: TaskPage): JSX.Element => (
  <li key={task.id}>
    <Glyph mark={taskMark(task)} size={12} isQuiet label={stepWord(task.tone)} />
    {task.title}
  </li>
);

const Row = ({ name, children }: { name: string; children: JSX.Element[] }): JSX.Element => (
  <div>
    <dt>{name}</dt>
    <dd>
      <ul>{children}</ul>
    </dd>
  </div>
);
