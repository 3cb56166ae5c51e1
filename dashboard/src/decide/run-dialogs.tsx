import { type JSX, useState } from 'react';
import type { RunPage, TaskPage } from '../api-types.ts';
import { DecisionDialog, Options, Words } from './decision-dialog.tsx';

export interface DialogProps {
  page: RunPage;
  onClose(): void;
}

export function RewindDialog({ page, onClose }: DialogProps): JSX.Element {
  const { row, steps } = page;
  const reached = steps.filter(({ tone }) => tone !== 'ahead');
  const [to, setTo] = useState(row.step.id);
  const title = steps.find(({ id }) => id === to)?.title ?? to;
  return (
    <DecisionDialog
      run={row.run}
      title="Rewind the run"
      consequence={`The run starts again at ${title}. Outputs and evidence from there on become invalid; tasks, notes and answers are kept.`}
      verb="Rewind"
      isDanger
      choice={{ type: 'rewind', to }}
      done={`The run is at ${title} again.`}
      onClose={onClose}
    >
      <Options
        label="Step"
        value={to}
        options={reached.map((step) => [step.id, step.title])}
        onChange={setTo}
      />
    </DecisionDialog>
  );
}

export function CancelDialog({ page, onClose }: DialogProps): JSX.Element {
  const [reason, setReason] = useState('');
  return (
    <DecisionDialog
      run={page.row.run}
      title="Cancel the run"
      consequence="The run ends. Its journal is kept, but it cannot be resumed."
      verb="Cancel the run"
      isDanger
      choice={{ type: 'cancel', ...(reason.trim() ? { reason: reason.trim() } : {}) }}
      done="The run is cancelled."
      onClose={onClose}
    >
      <Words label="Reason" value={reason} onChange={setReason} isOptional />
    </DecisionDialog>
  );
}

export const PauseDialog = ({ page, onClose }: DialogProps): JSX.Element => (
  <DecisionDialog
    run={page.row.run}
    title="Pause the run"
    consequence="Turns that are running end, and no new ones start until a person lets the run continue."
    verb="Pause"
    choice={{ type: 'pause' }}
    done="The run is paused."
    onClose={onClose}
  />
);

export const UnpauseDialog = ({ page, onClose }: DialogProps): JSX.Element => (
  <DecisionDialog
    run={page.row.run}
    title="Continue the run"
    consequence={`The pause ends, and a running driver goes on. If none is running, start one with: stepfast run --run ${page.row.run}`}
    verb="Continue"
    choice={{ type: 'unpause' }}
    done="The run continues."
    onClose={onClose}
  />
);

/** Tasks that have not ended. */
export const openTasks = ({ steps }: RunPage): TaskPage[] =>
  steps.flatMap(({ tasks = [] }) => tasks.filter(({ end }) => end === undefined));

export function DropTaskDialog({ page, onClose }: DialogProps): JSX.Element {
  const tasks = openTasks(page);
  const [task, setTask] = useState(tasks[0]?.id ?? '');
  const [reason, setReason] = useState('');
  return (
    <DecisionDialog
      run={page.row.run}
      title="Drop a task"
      consequence="The task is removed for good, without being done."
      verb="Drop the task"
      isDanger
      choice={task && reason.trim() ? { type: 'dropTask', task, reason: reason.trim() } : undefined}
      done="The task is dropped."
      onClose={onClose}
    >
      <Options
        label="Task"
        value={task}
        options={tasks.map(({ id, title }) => [id, title])}
        onChange={setTask}
      />
      <Words label="Reason" value={reason} onChange={setReason} />
    </DecisionDialog>
  );
}
