import type { JSX } from 'react';
import type { RunPage } from '../api-types.ts';
import { Segments } from '../ui/segments.tsx';
import { Options } from './decision-dialog.tsx';

interface Props<V extends string> {
  page: RunPage;
  /** What goes on with the work: its verdict and its name. */
  first: readonly [V, string];
  verdict: V | 'pivot' | 'abandon';
  pivots: readonly string[];
  to: string;
  onVerdict(verdict: V | 'pivot' | 'abandon'): void;
  onTo(step: string): void;
}

/** To go on, to go back to a step, or to end the run. */
export function VerdictFields<V extends string>(props: Props<V>): JSX.Element {
  const { page, first, verdict, pivots, to, onVerdict, onTo } = props;
  return (
    <>
      <Segments<V | 'pivot' | 'abandon'>
        label="Your decision"
        value={verdict}
        options={[
          first,
          ...(pivots.length > 0 ? ([['pivot', 'Pivot']] as const) : []),
          ['abandon', 'Abandon'],
        ]}
        onChange={onVerdict}
      />
      {verdict === 'pivot' && (
        <Options
          label="Back to"
          value={to}
          options={pivots.map((id) => [id, stepTitle(page, id)])}
          onChange={onTo}
        />
      )}
    </>
  );
}

export const stepTitle = ({ steps }: RunPage, id: string): string =>
  steps.find((step) => step.id === id)?.title ?? id;
