import { GitBranch } from 'lucide-react';
import type { JSX, ReactNode } from 'react';
import type { BudgetPage, PositionFiles, RunPage } from '../api-types.ts';
import { classNames } from '../ui/class-names.ts';
import { Glyph } from '../ui/glyph.tsx';
import { compact, durationText } from '../ui/time.ts';
import ui from '../ui/ui.module.css';
import css from './run.module.css';

type Unit = BudgetPage['unit'];

const minute = 60_000;

const unitText: Record<Unit, (amount: number) => string> = {
  turns: compact,
  tokens: compact,
  minutes: (amount) => durationText(amount * minute),
  cost: (amount) => `$${amount.toFixed(2)}`,
};

const unitName: Record<Unit, string> = {
  minutes: 'Active',
  turns: 'Turns',
  tokens: 'Tokens',
  cost: 'Cost',
};

const units: Unit[] = ['minutes', 'turns', 'tokens', 'cost'];

interface Props {
  page: RunPage;
  stale: readonly PositionFiles[];
}

export function Facts({ page, stale }: Props): JSX.Element {
  const { row, spent, budgets, branch } = page;
  const { step, tasks, gates } = row;
  const staleGates = page.evidence
    .filter(({ id }) => stale.some(({ check }) => check === id))
    .flatMap((check) => check.gates.filter(({ state }) => state === 'pass')).length;
  const counts = [
    ['green', gates.green],
    ['red', gates.red],
    ['stale', staleGates],
  ] as const;
  const used: Record<Unit, number | undefined> = {
    ...spent,
    minutes: spent.activeMs / minute,
    cost: spent.cost,
  };
  return (
    <dl className={css.facts}>
      <Fact name="Step">
        <strong>{step.title}</strong>{' '}
        <span className={classNames(ui.muted, ui.num)}>
          {step.index} of {step.total}
          {tasks ? ` · ${tasks.done} of ${tasks.total} tasks` : ''}
        </span>
      </Fact>
      <Fact name="Evidence">
        {counts.every(([, count]) => count === 0) && <span className={ui.muted}>none</span>}
        <span className={classNames(css.counts, ui.num)}>
          {counts.map(([mark, count]) =>
            count > 0 ? (
              <span key={mark} data-mark={mark}>
                <Glyph mark={mark} size={13} />
                {count} {mark}
              </span>
            ) : null,
          )}
        </span>
      </Fact>
      {units.map((unit) => {
        const budget = budgets.find((each) => each.of === 'run' && each.unit === unit);
        const amount = budget?.used ?? used[unit];
        return amount === undefined ? null : (
          <Amount key={unit} name={unitName[unit]} unit={unit} used={amount} limit={budget?.limit} />
        );
      })}
      {budgets
        .filter(({ of }) => of === 'step')
        .map(({ unit, used: amount, limit }) => (
          <Amount
            key={`step ${unit}`}
            name={`${unitName[unit]} in this step`}
            unit={unit}
            used={amount}
            limit={limit}
          />
        ))}
      {branch !== undefined && (
        <Fact name="Branch">
          <GitBranch size={13} aria-hidden="true" className={ui.muted} />{' '}
          <span className={ui.mono} title={branch}>
            {branch}
          </span>
        </Fact>
      )}
    </dl>
  );
}

const Fact = ({ name, children }: { name: string; children: ReactNode }): JSX.Element => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

interface AmountProps {
  name: string;
  unit: Unit;
  used: number;
  limit: number | undefined;
}

function Amount({ name, unit, used, limit }: AmountProps): JSX.Element {
  const text = unitText[unit];
  return (
    <Fact name={name}>
      <strong className={ui.num}>{text(used)}</strong>
      {limit !== undefined && (
        <>
          {' '}
          <span className={classNames(ui.muted, ui.num)}>of {text(limit)}</span>
          <progress
            max={limit}
            value={Math.min(used, limit)}
            data-mark={used >= limit ? 'person' : 'off'}
            aria-label={`${name}: ${text(used)} of ${text(limit)}`}
          />
        </>
      )}
    </Fact>
  );
}
