import { type CSSProperties, type JSX, memo } from 'react';
import { Link } from 'wouter';
import { useRow } from '../api/live-rows.ts';
import type { Row } from '../api-types.ts';
import { runHref } from '../decide/needs.ts';
import { classNames } from '../ui/class-names.ts';
import { Glyph } from '../ui/glyph.tsx';
import { toneMark, toneWord } from '../ui/marks.ts';
import { exactOnHover, useAgo } from '../ui/time.ts';
import ui from '../ui/ui.module.css';
import css from './runs.module.css';

interface Props {
  row: Row;
  index: number;
  isOn: boolean;
  isSmall: boolean;
}

export const RunRow = memo(function RunRow({ row: fetched, index, isOn, isSmall }: Props): JSX.Element {
  const row = useRow(fetched);
  const moved = useAgo(row.updatedAt);
  const { tone, step, tasks, gates } = row;
  const isQuiet = tone === 'complete' || tone === 'cancelled';
  const isComplete = tone === 'complete';
  const bar = { '--steps': step.total, '--at': isComplete ? step.total + 1 : step.index } as CSSProperties;
  return (
    <div
      role="row"
      id={`row-${index}`}
      aria-rowindex={index + 2}
      aria-selected={isOn}
      className={classNames(css.row, isOn && css.on, isQuiet && css.quiet)}
      data-mark={toneMark[tone]}
    >
      <span role="gridcell" className={css.name}>
        <Glyph mark={toneMark[tone]} label={toneWord(tone)} />
        <Link href={runHref(row.run)} tabIndex={-1} className={ui.cut}>
          {row.summary ?? row.workflow}
        </Link>
        <span className={classNames(css.id, ui.mono, ui.cut)}>{row.run}</span>
      </span>
      <span role="gridcell" className={classNames(css.now, ui.cut)}>
        {row.now}
      </span>
      <span role="gridcell" className={css.step}>
        <span className={css.bar} aria-hidden="true" style={bar} />
        <span className={isSmall ? ui.sr : ui.cut}>
          {isComplete ? `${step.total} of ${step.total}` : step.title}
          {tasks && !isComplete && (
            <span className={classNames(ui.muted, ui.num)}>
              {' '}
              {tasks.done}/{tasks.total}
            </span>
          )}
        </span>
      </span>
      {!isSmall && (
        <span role="gridcell" className={classNames(css.gates, ui.num)}>
          {gates.green > 0 && (
            <span className={css.passed}>
              <Glyph mark="green" size={12} /> {gates.green}
            </span>
          )}
          {gates.red > 0 && (
            <span data-mark="red">
              <Glyph mark="red" size={12} /> {gates.red}
            </span>
          )}
        </span>
      )}
      <span role="gridcell" className={classNames(css.moved, ui.num)} {...exactOnHover(row.updatedAt)}>
        {moved}
      </span>
    </div>
  );
});

export const BlankRow = ({ index }: { index: number }): JSX.Element => (
  <div role="row" aria-rowindex={index + 2} className={classNames(css.row, css.blank)}>
    <span role="gridcell" className={css.name}>
      <i />
      <span className={ui.sr}>loading</span>
    </span>
  </div>
);
