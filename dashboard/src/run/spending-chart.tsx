import type { JSX } from 'react';
import type { RunPage } from '../api-types.ts';
import { classNames } from '../ui/class-names.ts';
import { clockTime, compact, dayText } from '../ui/time.ts';
import ui from '../ui/ui.module.css';
import css from './run.module.css';

const width = 600;
const height = 120;

/** Tokens used until each point in time. */
export function SpendingChart({ points }: { points: RunPage['spending'] }): JSX.Element | null {
  const [first] = points;
  const last = points.at(-1);
  if (!first || !last) return null;
  const most = Math.max(1, last.tokens);
  const length = Math.max(1, last.now - first.now);
  const line = points
    .map(({ now, tokens }, index) => {
      const x = ((now - first.now) / length) * width;
      const y = height - (tokens / most) * (height - 8);
      return `${index === 0 ? 'M' : 'L'}${x.toFixed(1)},${y.toFixed(1)}`;
    })
    .join('');
  const label = `${compact(last.tokens)} tokens from ${dayText(first.now)} ${clockTime(first.now)} to ${dayText(last.now)} ${clockTime(last.now)}`;
  return (
    <section className={ui.card} aria-labelledby="spending">
      <header className={ui.cardHead}>
        <h2 id="spending">Tokens over time</h2>
        <span className={classNames(ui.muted, ui.num)}>{compact(last.tokens)}</span>
      </header>
      <div className={css.chart}>
        <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={label}>
          <path className={css.area} d={`${line}V${height}H0Z`} />
          <path className={css.line} d={line} />
          <path className={css.base} d={`M0,${height}H${width}`} />
        </svg>
        <div className={classNames(css.axis, ui.num)} aria-hidden="true">
          <span>
            {dayText(first.now)} {clockTime(first.now)}
          </span>
          <span>
            {dayText(last.now)} {clockTime(last.now)}
          </span>
        </div>
      </div>
    </section>
  );
}
