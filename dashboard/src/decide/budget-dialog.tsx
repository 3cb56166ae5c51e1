import { type JSX, useState } from 'react';
import type { Amounts, BudgetPage } from '../api-types.ts';
import ui from '../ui/ui.module.css';
import css from './decide.module.css';
import { DecisionDialog, Words } from './decision-dialog.tsx';
import type { NeedDialogProps } from './need-dialog-props.ts';
import type { Choice } from './use-decision.ts';
import { stepTitle, VerdictFields } from './verdict-fields.tsx';

type Unit = BudgetPage['unit'];
type Verdict = 'approve' | 'pivot' | 'abandon';

const unitText: Record<Unit, string> = {
  turns: 'turns',
  tokens: 'tokens',
  minutes: 'minutes',
  cost: 'US dollars',
};

const verbs: Record<Verdict, string> = { approve: 'Extend', pivot: 'Pivot', abandon: 'Abandon' };

const done: Record<Verdict, string> = {
  approve: 'Budget extended. The run continues.',
  pivot: 'The run went back.',
  abandon: 'The run ended.',
};

export function BudgetDialog({ page, need, onClose }: NeedDialogProps): JSX.Element {
  const [verdict, setVerdict] = useState<Verdict>('approve');
  const [amounts, setAmounts] = useState<Amounts>({});
  const [words, setWords] = useState('');
  const pivots = need.pivots ?? [];
  const [to, setTo] = useState(pivots[0] ?? '');
  const spent = page.budgets.filter(({ used, limit }) => used >= limit);
  // What else is used up would stop the run again at once. Another step has a budget of its own.
  const all = [...(need.unit === undefined ? [] : [need.unit]), ...spent.map(({ unit }) => unit)];
  const ofRun = spent.flatMap(({ of, unit }) => (of === 'run' ? unit : []));
  const units = [...new Set({ approve: all, pivot: ofRun, abandon: [] }[verdict])];
  const given = units.filter((unit) => (amounts[unit] ?? 0) > 0);
  const added = given.map((unit) => `${amounts[unit]} ${unitText[unit]}`).join(' and ');
  const feedback = words.trim();
  const isReady = {
    approve: given.length > 0,
    pivot: feedback !== '' && given.length === units.length,
    abandon: true,
  }[verdict];
  return (
    <DecisionDialog
      run={page.row.run}
      title={need.say}
      consequence={
        {
          approve: added
            ? `Adds ${added} to the budget, and the run continues.`
            : 'Enter how much to add. The run continues until that is used up, too.',
          pivot: `The run goes back to ${stepTitle(page, to)}, with a cleared context and your words.`,
          abandon: 'The run ends as failed.',
        }[verdict]
      }
      verb={verbs[verdict]}
      isDanger={verdict === 'abandon'}
      choice={isReady ? choice() : undefined}
      done={done[verdict]}
      onClose={onClose}
    >
      <p className={css.quote}>{need.what}</p>
      <VerdictFields<'approve'>
        page={page}
        first={['approve', 'Extend']}
        verdict={verdict}
        pivots={pivots}
        to={to}
        onVerdict={setVerdict}
        onTo={setTo}
      />
      {units.map((unit, index) => (
        <div className={css.field} key={unit}>
          <label htmlFor={`amount-${unit}`}>Add {unitText[unit]}</label>
          <input
            id={`amount-${unit}`}
            className={ui.field}
            type="number"
            min={0}
            step={unit === 'cost' ? 'any' : 1}
            data-first={index === 0 ? '' : undefined}
            value={amounts[unit] ?? ''}
            onChange={({ target }) => setAmounts({ ...amounts, [unit]: target.valueAsNumber || 0 })}
          />
        </div>
      ))}
      {verdict !== 'approve' && (
        <Words
          label={verdict === 'pivot' ? 'Why go back?' : 'Why end the run?'}
          value={words}
          onChange={setWords}
          isOptional={verdict === 'abandon'}
        />
      )}
    </DecisionDialog>
  );

  function choice(): Choice {
    const at = need.at === undefined ? {} : { at: need.at };
    const amount =
      given.length > 0 ? { amount: Object.fromEntries(given.map((unit) => [unit, amounts[unit]])) } : {};
    if (verdict === 'pivot') return { type: 'review', verdict, ...at, feedback, to, ...amount };
    if (verdict === 'abandon') return { type: 'review', verdict, ...at, ...(feedback ? { feedback } : {}) };
    return { type: 'review', verdict, ...at, ...amount };
  }
}
