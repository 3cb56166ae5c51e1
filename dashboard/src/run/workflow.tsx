import { type ComponentType, type JSX, Suspense, useState } from 'react';
import { Link } from 'wouter';
import type { PositionFiles, RunPage, StepPage } from '../api-types.ts';
import { classNames } from '../ui/class-names.ts';
import { Glyph } from '../ui/glyph.tsx';
import { resetWord, stepMark, stepWord, verdictOf } from '../ui/marks.ts';
import ui from '../ui/ui.module.css';
import { useMedia } from '../ui/use-media.ts';
import type { Shown } from './gate-choice.ts';
import { TaskDetails } from './task-details.tsx';
import { TaskList, type TasksProps } from './task-list.tsx';
import css from './workflow.module.css';

/** A larger graph is slower to read than a list. */
const maxGraph = 60;

interface Props {
  page: RunPage;
  stale: readonly PositionFiles[];
  /** For tasks with dependencies, where there is room; a list otherwise. */
  TaskGraph?: ComponentType<TasksProps>;
  /** The page of the whole workflow. */
  href?: string;
  onShow(shown: Shown): void;
}

export function Workflow({ page, stale, TaskGraph, href, onShow }: Props): JSX.Element {
  const { steps, row } = page;
  const [chosen, setChosen] = useState<string | undefined>();
  const id = chosen ?? row.step.id;
  const step = steps.find((each) => each.id === id);
  return (
    <section className={ui.card} aria-labelledby="workflow">
      <header className={classNames(ui.cardHead, css.head)}>
        <h2 id="workflow">Workflow</h2>
        <span className={classNames(ui.muted, ui.cut)}>{row.workflow}</span>
        <span className={ui.grow} />
        {href !== undefined && (
          <Link className={classNames(ui.btn, ui.small)} href={href}>
            Steps and dry run
          </Link>
        )}
      </header>
      <div className={css.flow}>
        <ol className={css.steps}>
          {steps.map((each) => (
            <li key={each.id} data-mark={stepMark[each.tone]}>
              {each.context && (
                <span className={classNames(css.reset, ui.mono)}>
                  <span className={ui.sr}>before it: </span>/{each.context}
                  <span className={css.resets}>{resetWord[each.context]}</span>
                </span>
              )}
              <button type="button" aria-pressed={each.id === id} onClick={() => setChosen(each.id)}>
                <Glyph mark={stepMark[each.tone]} label={stepWord(each.tone)} />
                <strong className={ui.cut}>{each.title}</strong>
                <span className={css.hint}>{stepHint(page, each)}</span>
              </button>
            </li>
          ))}
        </ol>
        {step && (
          <Step key={id} page={page} step={step} stale={stale} TaskGraph={TaskGraph} onShow={onShow} />
        )}
      </div>
    </section>
  );
}

type Decision = RunPage['decisions'][number];

/** What a person decided at the end of a step. */
function verdictOn({ decisions }: RunPage, { id, tone }: StepPage): Decision | undefined {
  const what = tone === 'done' ? 'approve' : tone === 'failed' ? 'abandon' : undefined;
  return decisions.findLast((each) => each.path === id && each.what === what);
}

function stepHint(page: RunPage, step: StepPage): string {
  const { tone, tasks, rounds, evidence, review } = step;
  if (tasks && tasks.length > 0 && tone !== 'failed')
    return `${tasks.filter(({ end }) => end === 'done').length} of ${tasks.length}`;
  if (rounds !== undefined && tone !== 'person') return rounds === 1 ? '1 round' : `${rounds} rounds`;
  if (tone === 'done') return evidence === 'unverified' && verdictOn(page, step) ? 'approved' : evidence;
  if (tone === 'ahead') return review === undefined ? '' : 'review';
  return stepWord(tone);
}

interface StepProps {
  page: RunPage;
  step: StepPage;
  stale: readonly PositionFiles[];
  TaskGraph?: Props['TaskGraph'] | undefined;
  onShow(shown: Shown): void;
}

function Step(props: StepProps): JSX.Element {
  const { page, step, TaskGraph, onShow } = props;
  const isSmall = useMedia('(max-width: 1000px)');
  const [opened, setOpened] = useState<string | undefined>();
  const { tasks = [] } = step;
  const isGraph = !isSmall && tasks.length <= maxGraph && tasks.some(({ dependsOn }) => dependsOn.length > 0);
  const Tasks = isGraph && TaskGraph ? TaskGraph : TaskList;
  const task = tasks.find(({ id }) => id === opened);
  if (tasks.length > 0)
    return (
      <Suspense fallback={<div className={css.pane} aria-busy />}>
        <div className={classNames(css.pane, css.tasksPane)}>
          <Tasks tasks={tasks} onOpen={setOpened} />
          {task && (
            <TaskDetails
              task={task}
              tasks={tasks}
              evidence={page.evidence}
              onShow={onShow}
              onClose={() => setOpened(undefined)}
            />
          )}
        </div>
      </Suspense>
    );
  return (
    <div className={classNames(css.pane, css.words)}>
      <div>
        {step.output !== undefined && (
          <>
            <h3>What the agent said at its end</h3>
            <p className={ui.pre}>{step.output}</p>
          </>
        )}
        {step.instructions !== undefined && <Instructions step={step} />}
        {step.output === undefined && step.instructions === undefined && (
          <p className={ui.muted}>This step has no text.</p>
        )}
      </div>
      <StepGates {...props} />
    </div>
  );
}

/** Open while there is nothing newer to read. */
const Instructions = ({ step }: { step: StepPage }): JSX.Element => (
  <details key={step.id} className={css.instructions} open={step.output === undefined}>
    <summary>Instructions</summary>
    <p className={ui.pre}>{step.instructions}</p>
  </details>
);

const isAhead = ({ tone }: StepPage): boolean => ['ahead', 'open', 'red', 'person'].includes(tone);

/** The newest check of the step if there is one, else what will be checked. */
function StepGates({ page, step, stale, onShow }: StepProps): JSX.Element {
  const verdict = verdictOn(page, step);
  const check = page.evidence.find(({ path }) => path === step.id || path.startsWith(`${step.id}/`));
  const isStale = stale.some((each) => check !== undefined && each.check === check.id);
  return (
    <div className={css.side}>
      <h3>Gates</h3>
      {check ? (
        <ul className={css.gates}>
          {check.gates.map((gate, index) => {
            const { mark, word } = verdictOf(gate, isStale);
            return (
              <li key={`${gate.role} ${gate.what}`} data-mark={mark}>
                <button type="button" onClick={() => onShow({ check: check.id, gate: index })}>
                  <Glyph mark={mark} size={14} isQuiet />
                  <span className={classNames(ui.mono, ui.cut)}>{gate.what}</span>
                  <span className={css.verdict}>{word}</span>
                </button>
              </li>
            );
          })}
        </ul>
      ) : (
        <ul className={css.planned}>
          {step.gates.map((gate) => (
            <li key={gate} className={classNames(ui.mono, ui.cut)}>
              {gate}
            </li>
          ))}
          {step.gates.length === 0 && <li className={ui.muted}>None</li>}
        </ul>
      )}
      {check?.gates.some(({ reportedBy }) => reportedBy) && (
        <p className={css.reported}>Reported by the agent</p>
      )}
      {verdict && (
        <p className={ui.soft}>
          {verdict.what === 'approve' ? 'Approved' : 'Abandoned'} by <strong>{verdict.by}</strong>
          {verdict.text !== undefined && <span className={css.quote}>{verdict.text}</span>}
        </p>
      )}
      {step.review !== undefined && isAhead(step) && (
        <p className={ui.soft}>
          To be reviewed by <strong>{step.review === 'human' ? 'a person' : step.review}</strong>
        </p>
      )}
    </div>
  );
}
