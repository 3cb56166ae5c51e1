import { type JSX, useState } from 'react';
import { Segments } from '../ui/segments.tsx';
import { BudgetDialog } from './budget-dialog.tsx';
import css from './decide.module.css';
import { DecisionDialog, Options, Words } from './decision-dialog.tsx';
import type { NeedDialogProps } from './need-dialog-props.ts';
import { UnpauseDialog } from './run-dialogs.tsx';
import type { Choice } from './use-decision.ts';
import { stepTitle, VerdictFields } from './verdict-fields.tsx';

/** The dialog of a need. A review has a page of its own; a merge queue is fixed in the checkout. */
export function NeedDialog(props: NeedDialogProps): JSX.Element | null {
  switch (props.need.kind) {
    case 'question':
      return <AnswerDialog {...props} />;
    case 'budget':
      return <BudgetDialog {...props} />;
    case 'context':
      return <ContextDialog {...props} />;
    case 'decision':
      return <BlockedDialog {...props} />;
    case 'merge':
      return <MergeDialog {...props} />;
    case 'pause':
      return <UnpauseDialog {...props} />;
    case 'review':
    case 'queue':
      return null;
  }
}

function AnswerDialog({ page, need, onClose }: NeedDialogProps): JSX.Element {
  const [text, setText] = useState('');
  const question = page.questions.find(({ id }) => id === need.question);
  return (
    <DecisionDialog
      run={page.row.run}
      title={`${need.title}: answer the agent`}
      consequence="The agent gets your words and goes on. The answer is kept for every later session."
      verb="Answer"
      choice={
        text.trim()
          ? {
              type: 'answer',
              text: text.trim(),
              ...(need.question === undefined ? {} : { question: need.question }),
            }
          : undefined
      }
      done="Answered. The agent goes on."
      onClose={onClose}
    >
      <p className={css.quote}>{question?.text ?? need.what}</p>
      <Words label="Your answer" value={text} onChange={setText} />
    </DecisionDialog>
  );
}

const ContextDialog = ({ page, need, onClose }: NeedDialogProps): JSX.Element => (
  <DecisionDialog
    run={page.row.run}
    title={`${need.title}: continue without /${need.what}`}
    consequence={`The agent goes on in its old context, as if /${need.what} had been typed. To do what the workflow asks for, type /${need.what} in the agent's session instead.`}
    verb="Continue without it"
    choice={{ type: 'proceed', ...(need.at === undefined ? {} : { at: need.at }) }}
    done="The agent goes on in its old context."
    onClose={onClose}
  />
);

type Verdict = 'revise' | 'pivot' | 'abandon';

function BlockedDialog({ page, need, onClose }: NeedDialogProps): JSX.Element {
  const [verdict, setVerdict] = useState<Verdict>('revise');
  const [words, setWords] = useState('');
  const pivots = need.pivots ?? [];
  const [to, setTo] = useState(pivots[0] ?? '');
  const feedback = words.trim();
  const at = need.at === undefined ? {} : { at: need.at };
  const consequence = {
    revise: `The agent works on ${need.title} again, with your words.`,
    pivot: `The run goes back to ${stepTitle(page, to)}, with a cleared context and your words.`,
    abandon: 'The run ends as failed.',
  }[verdict];
  const choice: Choice | undefined =
    verdict === 'abandon'
      ? { type: 'review', verdict, ...at, ...(feedback ? { feedback } : {}) }
      : feedback
        ? { type: 'review', ...at, feedback, ...(verdict === 'pivot' ? { verdict, to } : { verdict }) }
        : undefined;
  return (
    <DecisionDialog
      run={page.row.run}
      title={need.say}
      consequence={consequence}
      verb={{ revise: 'Send back', pivot: 'Pivot', abandon: 'Abandon' }[verdict]}
      isDanger={verdict === 'abandon'}
      choice={choice}
      done={{ revise: 'Sent back.', pivot: 'The run went back.', abandon: 'The run ended.' }[verdict]}
      onClose={onClose}
    >
      <p className={css.quote}>{need.what}</p>
      <VerdictFields<'revise'>
        page={page}
        first={['revise', 'Send back']}
        verdict={verdict}
        pivots={pivots}
        to={to}
        onVerdict={setVerdict}
        onTo={setTo}
      />
      <Words
        label="What should the agent know?"
        value={words}
        onChange={setWords}
        isOptional={verdict === 'abandon'}
      />
    </DecisionDialog>
  );
}

function MergeDialog({ page, need, onClose }: NeedDialogProps): JSX.Element {
  const parked = page.steps.flatMap(({ tasks = [] }) => tasks.filter(({ merge }) => merge === 'parked'));
  const [task, setTask] = useState(need.task ?? parked[0]?.id ?? '');
  const [isDrop, setDrop] = useState(false);
  const [reason, setReason] = useState('');
  const drop: Choice | undefined = reason.trim()
    ? { type: 'dropTask', task, reason: reason.trim() }
    : undefined;
  return (
    <DecisionDialog
      run={page.row.run}
      title={need.say}
      consequence={
        isDrop
          ? 'The task is removed for good, without being done.'
          : 'The task returns to the merge queue. If it fails again, it waits for you again.'
      }
      verb={isDrop ? 'Drop the task' : 'Merge again'}
      isDanger={isDrop}
      choice={isDrop ? drop : { type: 'retryMerge', task }}
      done={isDrop ? 'The task is dropped.' : 'The task is in the merge queue.'}
      onClose={onClose}
    >
      <p className={css.quote}>{need.what}</p>
      {need.task === undefined && (
        <Options
          label="Task"
          value={task}
          options={parked.map(({ id, title }) => [id, title])}
          onChange={setTask}
        />
      )}
      <Segments
        label="Your decision"
        value={isDrop ? 'drop' : 'merge'}
        options={[
          ['merge', 'Merge again'],
          ['drop', 'Drop the task'],
        ]}
        onChange={(value) => setDrop(value === 'drop')}
      />
      {isDrop && <Words label="Reason" value={reason} onChange={setReason} />}
    </DecisionDialog>
  );
}
