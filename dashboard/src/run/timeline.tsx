import { Eraser, FoldVertical } from 'lucide-react';
import { type CSSProperties, type JSX, useEffect, useMemo, useRef, useState } from 'react';
import type { SessionLane } from '../api-types.ts';
import { classNames } from '../ui/class-names.ts';
import { Glyph } from '../ui/glyph.tsx';
import { useKeys } from '../ui/keys.ts';
import { reader } from '../ui/reader.ts';
import { clockTime, dayText, durationText, exactOnHover, useNow } from '../ui/time.ts';
import ui from '../ui/ui.module.css';
import { sessionSums } from './session-sums.ts';
import css from './timeline.module.css';
import { inSight, type Scale, scaleOf, ticksOf } from './timeline-scale.ts';

const position = (x: number, width?: number): CSSProperties => ({
  left: `${x}%`,
  ...(width === undefined ? {} : { width: `${width}%` }),
});

export function Timeline({ lanes }: { lanes: SessionLane[] }): JSX.Element {
  const [skipIdle, setSkipIdle] = useState(true);
  const now = useNow();
  const scale = useMemo(() => scaleOf(lanes, skipIdle, now), [lanes, skipIdle, now]);
  const ticks = useMemo(() => ticksOf(scale), [scale]);
  const idle = scale.pieces.filter(({ isIdle }) => isIdle);
  const idleMs = idle.reduce((sum, { from, to }) => sum + to - from, 0);
  const plot = useRef<HTMLDivElement>(null);
  useKeys({ i: () => setSkipIdle(!skipIdle) });
  useEffect(() => {
    // Where it does not fit, the newest part is in sight.
    if (plot.current) plot.current.scrollLeft = plot.current.scrollWidth;
  }, []);
  return (
    <section className={ui.card} aria-labelledby="sessions">
      <header className={ui.cardHead}>
        <h2 id="sessions">Sessions</h2>
        <span className={classNames(ui.muted, ui.num)}>{lanes.length}</span>
        <span className={ui.grow} />
        <Legend />
        <button
          type="button"
          className={classNames(ui.btn, ui.small)}
          role="switch"
          aria-checked={skipIdle}
          aria-keyshortcuts="i"
          onClick={() => setSkipIdle(!skipIdle)}
        >
          <span className={css.switch} aria-hidden="true" />
          Skip idle and waiting time
          {skipIdle && idleMs > 0 && (
            <span className={classNames(ui.muted, ui.num, ui.wideOnly)}>{durationText(idleMs)}</span>
          )}
        </button>
      </header>
      <Sums lanes={lanes} now={now} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <div className={css.plot} ref={plot} tabIndex={0} role="region" aria-label="Sessions over time">
        <div className={css.axis} aria-hidden="true">
          <span />
          <div className={css.track}>
            {scale.pieces
              .filter(({ isIdle }) => !isIdle)
              .filter(({ from }, i, all) => dayText(from) !== dayText(all[i - 1]?.from ?? 0))
              .map(({ from, x, width }) => (
                <span key={from} className={css.day} style={position(x, width)}>
                  {dayText(from)}
                </span>
              ))}
            {ticks.map((time) => (
              <span key={time} className={classNames(css.tick, ui.num)} style={position(scale.x(time))}>
                {clockTime(time)}
              </span>
            ))}
          </div>
        </div>
        <div className={css.under} aria-hidden="true">
          <span />
          <div className={css.track}>
            {ticks.map((time) => (
              <i key={time} className={css.rule} style={position(scale.x(time))} />
            ))}
            {idle.map(({ from, to, x, width }) => (
              <i key={from} className={css.gap} style={position(x, width)}>
                {!isWaitIn(lanes, from, to) && <span>{durationText(to - from)}</span>}
              </i>
            ))}
          </div>
        </div>
        <ul className={css.lanes}>
          {lanes.map((lane) => (
            <Lane key={lane.id} lane={lane} scale={scale} now={now} />
          ))}
        </ul>
      </div>
    </section>
  );
}

/** A wait that fills a gap is drawn over it. */
const isWaitIn = (lanes: SessionLane[], from: number, to: number): boolean =>
  lanes.some(({ waits }) => waits.some((wait) => wait.from < to && (wait.to ?? to) > from));

function Sums({ lanes, now }: { lanes: SessionLane[]; now: number }): JSX.Element | null {
  const { worked, waited, idle } = useMemo(() => sessionSums(lanes, now), [lanes, now]);
  const parts = [
    ['worked', worked],
    [`waited for ${reader()}`, waited],
    ['idle', idle],
  ] as const;
  const text = parts
    .filter(([, ms]) => ms >= 1000)
    .map(([what, ms]) => `${what} ${durationText(ms)}`)
    .join(' · ');
  if (text === '') return null;
  return <p className={classNames(css.sums, ui.num)}>{text.charAt(0).toUpperCase() + text.slice(1)}</p>;
}

const waitText = {
  review: 'a review',
  question: 'an answer',
  decision: 'a decision',
  context: 'a fresh context',
};

const Legend = (): JSX.Element => (
  <ul className={classNames(css.legend, ui.wideOnly)} aria-label="Legend">
    <li data-mark="working">
      <i />
      works
    </li>
    <li data-mark="person">
      <i className={css.hatched} />
      waits for a person
    </li>
    <li>
      <b>
        <Eraser size={11} aria-hidden="true" />
      </b>
      context cleared
    </li>
    <li>
      <b>
        <FoldVertical size={11} aria-hidden="true" />
      </b>
      compacted
    </li>
  </ul>
);

function Lane({ lane, scale, now }: { lane: SessionLane; scale: Scale; now: number }): JSX.Element {
  const span = ({ from, to }: { from: number; to: number }): CSSProperties =>
    position(scale.x(from), scale.x(to) - scale.x(from));
  const marks = lane.marks.map((mark) => ({ ...mark, from: mark.now, to: mark.now }));
  return (
    <li className={css.lane}>
      <span className={css.who}>
        <span className={ui.cut}>{lane.host ?? 'session'}</span>
        <span className={classNames(ui.mono, ui.muted, ui.cut)} title={lane.id}>
          {lane.id.slice(0, 8)}
        </span>
      </span>
      <ul className={css.track}>
        {lane.stretches.map((stretch) => (
          <li key={`s${stretch.from}`} className={css.stretch} style={span(stretch)}>
            <span className={ui.sr}>
              session for {durationText(stretch.to - stretch.from)}, from {clockTime(stretch.from)}
            </span>
          </li>
        ))}
        {inSight(lane.work, scale).map((work) => (
          <li
            key={`w${work.from} ${work.path}`}
            className={css.work}
            data-mark="working"
            style={span(work)}
            {...exactOnHover(work.from, `${work.title}, ${durationText(work.to - work.from)}\n`)}
          >
            <span className={ui.cut}>{work.title}</span>
            <span className={ui.sr}>, {durationText(work.to - work.from)}</span>
          </li>
        ))}
        {lane.waits.map(({ from, to, kind }) => {
          const end = Math.max(from, to ?? now);
          return (
            <li
              key={`p${from} ${kind}`}
              className={classNames(css.wait, css.hatched)}
              data-mark="person"
              style={span({ from, to: end })}
              {...exactOnHover(from, `Waited for ${waitText[kind]}, ${durationText(end - from)}\n`)}
            >
              <span className={ui.sr}>
                {to === undefined ? 'waits' : 'waited'} for {waitText[kind]}, {durationText(end - from)}
              </span>
            </li>
          );
        })}
        {lane.stretches.map(({ from, opened }) =>
          opened === 'start' ? null : (
            <li
              key={`o${from}`}
              className={classNames(css.mark, css.opened)}
              style={position(scale.x(from))}
              {...exactOnHover(from, opened === 'clear' ? 'Context cleared\n' : 'Context compacted\n')}
            >
              <b>
                {opened === 'clear' ? (
                  <Eraser size={11} aria-hidden="true" />
                ) : (
                  <FoldVertical size={11} aria-hidden="true" />
                )}
              </b>
              <span className={ui.sr}>{opened === 'clear' ? 'context cleared' : 'context compacted'}</span>
            </li>
          ),
        )}
        {inSight(marks, scale).map(({ now, kind, text }) => (
          <li
            key={`m${now} ${kind} ${text}`}
            className={css.mark}
            style={position(scale.x(now))}
            {...exactOnHover(now, `${text}\n`)}
          >
            {kind === 'note' || kind === 'boundary' ? (
              <b className={kind === 'note' ? css.dot : css.diamond} />
            ) : (
              <Glyph mark={kind} size={14} isQuiet />
            )}
            <span className={ui.sr}>
              {kind}: {text}
            </span>
          </li>
        ))}
      </ul>
    </li>
  );
}
