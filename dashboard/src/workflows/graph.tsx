import { CornerLeftUp } from 'lucide-react';
import { type CSSProperties, Fragment, type JSX, useEffect, useMemo, useRef } from 'react';
import type { Card, DryMove, Graph as GraphData, Phase, Pivot, StepTone } from '../api-types.ts';
import { classNames } from '../ui/class-names.ts';
import { Glyph } from '../ui/glyph.tsx';
import { stepMark, stepWord } from '../ui/marks.ts';
import ui from '../ui/ui.module.css';
import { About, Checks, CommonRules, Connection, Flags, Rule } from './card.tsx';
import css from './graph.module.css';
import { trunksOf } from './pivot-lanes.ts';

type Position = DryMove['at'];

interface Props {
  graph: GraphData;
  /** How far a run has come, by step. */
  tones?: ReadonlyMap<string, StepTone> | undefined;
  /** Marked, and scrolled into view. */
  here?: Position | undefined;
}

/** The steps are a line; pivots are arrows back at its side. */
export function Graph({ graph, tones, here }: Props): JSX.Element {
  const { phases, pivots } = graph;
  const trunks = useMemo(() => trunksOf(pivots), [pivots]);
  const lanes = Math.max(0, ...trunks.map(({ lane }) => lane + 1));
  const list = useRef<HTMLOListElement>(null);
  const { step, subStep } = here ?? {};
  useEffect(() => {
    if (step === undefined) return;
    const cards = [...(list.current?.querySelectorAll('[aria-current="step"]') ?? [])];
    // A sub-step rather than its whole loop. Where the page is one column, the text stays in sight.
    if (matchMedia('(min-width: 1001px)').matches)
      cards.at(subStep === undefined ? 0 : -1)?.scrollIntoView({ block: 'nearest' });
  }, [step, subStep]);
  return (
    <div className={css.graph} style={{ '--lanes': lanes } as CSSProperties}>
      {/* biome-ignore lint/a11y/noRedundantRoles: WebKit forgets it for display: contents. */}
      <ol className={css.steps} ref={list} role="list" aria-label="Steps">
        {phases.map((phase, index) => (
          <li key={phase.id} style={{ gridRow: index + 1 }}>
            {(index > 0 || phase.before) && <Connection before={phase.before} />}
            <PhaseCard
              phase={phase}
              number={index + 1}
              tone={tones?.get(phase.id)}
              here={here?.step === phase.id ? here : undefined}
              pivots={pivots
                .filter(({ from }) => from === index)
                .map((pivot) => pivotText(pivot, phases[pivot.to]))}
            />
          </li>
        ))}
      </ol>
      {trunks.map(({ to, last, lane, branches }) => (
        <Fragment key={to}>
          <div
            aria-hidden="true"
            className={css.trunk}
            data-at={phases[to]?.before ? 'mark' : to > 0 ? 'line' : 'top'}
            style={
              {
                gridRow: `${to + 1} / ${last + 2}`,
                '--lane': lane,
                '--slot': branches.find(({ from }) => from === last)?.slot,
              } as CSSProperties
            }
          />
          {branches.map(({ from, causes, slot }) => (
            <div
              key={from}
              aria-hidden="true"
              className={css.branch}
              data-last={from === last ? '' : undefined}
              style={{ gridRow: from + 1, '--lane': lane, '--slot': slot } as CSSProperties}
            >
              {causes.map((cause) => branchText[cause]).join(', ')}
            </div>
          ))}
        </Fragment>
      ))}
    </div>
  );
}

const branchText = { review: 'if rejected', budget: 'over budget' };
const causeText = { review: 'after a review', budget: 'when the budget is used up' };

const pivotText = ({ causes }: Pivot, to: Phase | undefined): string =>
  `May go back to ${to?.title ?? to?.id} ${causes.map((cause) => causeText[cause]).join(', or ')}`;

interface PhaseProps {
  phase: Phase;
  number: number;
  tone: StepTone | undefined;
  here: Position | undefined;
  pivots: string[];
}

function PhaseCard({ phase, number, tone, here, pivots }: PhaseProps): JSX.Element {
  const { id, title, type, review, budget, tasks, parallel, subSteps, rounds, until } = phase;
  return (
    <div
      className={classNames(css.card, here && css.here)}
      aria-current={here && 'step'}
      data-mark={here && 'working'}
    >
      <div className={css.head}>
        {tone === undefined ? (
          <span className={classNames(css.number, ui.num)} aria-hidden="true">
            {number}
          </span>
        ) : (
          <Glyph mark={stepMark[tone]} label={stepWord(tone)} />
        )}
        <h3 className={ui.cut}>{title ?? id}</h3>
        {title !== undefined && title !== id && (
          <span className={classNames(css.id, ui.mono, ui.cut)}>{id}</span>
        )}
        <span className={ui.grow} />
        {here && <Where here={here} />}
        <Flags {...phase} />
        <span className={css.type} data-type={type}>
          {type}
        </span>
      </div>
      <About about={phase.about} />
      <dl className={css.rules}>
        {type === 'loop' && (
          <Rule name="For each task">
            {tasks ?? 'the agent sets the tasks'}
            {parallel > 1 && `, up to ${parallel} at once`}
          </Rule>
        )}
        {type === 'ralph' && (
          <Rule name="Repeats">{rounds === 1 ? 'one round' : `up to ${rounds} rounds`}</Rule>
        )}
        {until.length > 0 && (
          <Rule name="Until">
            <Checks checks={until} />
          </Rule>
        )}
        <CommonRules {...phase} />
        {review !== undefined && (
          <Rule name="Review">by {review === 'human' ? 'a person' : `the agent ${review}`}</Rule>
        )}
        {budget && <Rule name="Budget">{budget.join(', ')}</Rule>}
      </dl>
      {subSteps.length > 0 && (
        <ol className={css.subSteps} aria-label="For each task">
          {subSteps.map((sub, index) => (
            <li key={sub.id}>
              {(index > 0 || sub.before) && <Connection before={sub.before} />}
              <SubCard card={sub} isHere={here?.subStep === sub.id} />
            </li>
          ))}
        </ol>
      )}
      {pivots.map((text) => (
        <p key={text} className={css.pivot}>
          <CornerLeftUp size={13} aria-hidden="true" />
          {text}
        </p>
      ))}
    </div>
  );
}

const Where = ({ here: { task, round } }: { here: Position }): JSX.Element | null =>
  task === undefined && round === undefined ? null : (
    <span className={classNames(css.where, ui.num)}>
      {[task, round === undefined ? undefined : `round ${round}`].filter(Boolean).join(', ')}
    </span>
  );

const SubCard = ({ card, isHere }: { card: Card; isHere: boolean }): JSX.Element => (
  <div
    className={classNames(css.sub, isHere && css.here)}
    aria-current={isHere ? 'step' : undefined}
    data-mark={isHere ? 'working' : undefined}
  >
    <div className={css.head}>
      <h4 className={ui.cut}>{card.title ?? card.id}</h4>
      {card.title !== undefined && card.title !== card.id && (
        <span className={classNames(css.id, ui.mono, ui.cut)}>{card.id}</span>
      )}
      <span className={ui.grow} />
      <Flags {...card} />
    </div>
    <About about={card.about} />
    <dl className={css.rules}>
      <CommonRules {...card} />
    </dl>
  </div>
);
