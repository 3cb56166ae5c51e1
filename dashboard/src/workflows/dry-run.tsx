import { ChevronLeft, ChevronRight, Shuffle } from 'lucide-react';
import { type JSX, useId } from 'react';
import type { DryMove, DryRunPage } from '../api-types.ts';
import { classNames } from '../ui/class-names.ts';
import { useKeys } from '../ui/keys.ts';
import { Segments } from '../ui/segments.tsx';
import ui from '../ui/ui.module.css';
import css from './dry-run.module.css';
import type { DryRunState } from './dry-run-state.ts';
import { Move, markOf, wordOf } from './move.tsx';

interface Props {
  page: DryRunPage | undefined;
  error: Error | null;
  state: DryRunState;
  hasTasks: boolean;
  onChange(change: Partial<DryRunState>): void;
}

const firstSeed = 1;

/** A made-up run to click through. */
export function DryRun({ page, error, state, hasTasks, onChange }: Props): JSX.Element {
  const moves = page?.moves ?? [];
  const at = Math.min(state.move, moves.length);
  const move = moves[at - 1];
  const go = (to: number): void => {
    if (moves.length > 0) onChange({ move: Math.max(1, Math.min(moves.length, to)) });
  };
  useKeys({
    ArrowLeft: () => go(at - 1),
    ArrowRight: () => go(at + 1),
    Home: () => go(1),
    End: () => go(moves.length),
  });
  return (
    <section className={classNames(ui.card, css.panel)} aria-labelledby="dry-run">
      <header className={ui.cardHead}>
        <h2 id="dry-run">Dry run</h2>
        <span className={classNames(ui.muted, ui.wideOnly)}>No agent works, and no command is run.</span>
      </header>
      <Choices state={state} hasTasks={hasTasks} onChange={onChange} />
      {error && !page && <p className={css.problem}>{error.message}</p>}
      <Player moves={moves} at={at} onGo={go} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <div className={css.body} tabIndex={0} role="region" aria-label="This move">
        {move && <Move key={at} move={move} end={at === moves.length ? page?.status : undefined} />}
        {moves.length > 0 && <AllMoves moves={moves} at={at} onGo={go} />}
      </div>
    </section>
  );
}

type ChoicesProps = Pick<Props, 'state' | 'hasTasks' | 'onChange'>;

function Choices({ state: { seed, tasks }, hasTasks, onChange }: ChoicesProps): JSX.Element {
  const id = useId();
  return (
    <div className={css.choices}>
      <Segments<'smooth' | 'failures'>
        label="What happens"
        value={seed === undefined ? 'smooth' : 'failures'}
        options={[
          ['smooth', 'Everything succeeds'],
          ['failures', 'With failures'],
        ]}
        onChange={(value) => onChange({ seed: value === 'smooth' ? undefined : firstSeed, move: 1 })}
      />
      <div className={css.amounts}>
        {hasTasks && (
          <>
            <label htmlFor={id}>Tasks in each loop</label>
            <select
              id={id}
              className={ui.field}
              value={tasks}
              onChange={({ target }) => onChange({ tasks: Number(target.value), move: 1 })}
            >
              {[1, 2, 3, 4, 5, 6, 7, 8, 9].map((count) => (
                <option key={count}>{count}</option>
              ))}
            </select>
          </>
        )}
        <span className={ui.grow} />
        <span className={classNames(css.seed, ui.num)} hidden={seed === undefined}>
          Seed {seed}
          <button
            type="button"
            className={classNames(ui.btn, ui.small)}
            onClick={() => onChange({ seed: (seed ?? 0) + 1, move: 1 })}
          >
            <Shuffle size={13} aria-hidden="true" />
            Other failures
          </button>
        </span>
      </div>
    </div>
  );
}

interface PlayerProps {
  moves: readonly DryMove[];
  at: number;
  onGo(to: number): void;
}

function Player({ moves, at, onGo }: PlayerProps): JSX.Element {
  const count = Math.max(1, moves.length);
  return (
    <div className={css.player}>
      <button
        type="button"
        className={ui.btn}
        disabled={at <= 1}
        aria-keyshortcuts="ArrowLeft"
        onClick={() => onGo(at - 1)}
      >
        <ChevronLeft size={15} aria-hidden="true" />
        Previous
      </button>
      <div className={css.scrubber}>
        <div className={css.ticks} aria-hidden="true">
          {moves.map((move, index) => (
            <i key={index} data-mark={markOf(move)} data-past={index < at ? '' : undefined} />
          ))}
        </div>
        <input
          type="range"
          min={1}
          max={count}
          value={Math.max(1, at)}
          aria-label="Move"
          aria-valuetext={`${at} of ${moves.length}`}
          onChange={({ target }) => onGo(target.valueAsNumber)}
        />
      </div>
      <button
        type="button"
        className={classNames(ui.btn, ui.primary)}
        disabled={at >= moves.length}
        aria-keyshortcuts="ArrowRight"
        onClick={() => onGo(at + 1)}
      >
        Next
        <ChevronRight size={15} aria-hidden="true" />
      </button>
      <span className={classNames(css.count, ui.num)} role="status">
        {moves.length > 0 ? `Move ${at} of ${moves.length}` : '\u00a0'}
      </span>
    </div>
  );
}

const AllMoves = ({ moves, at, onGo }: PlayerProps): JSX.Element => (
  <details className={css.all}>
    <summary>All {moves.length} moves</summary>
    <ol>
      {moves.map((move, index) => (
        <li key={index}>
          <button
            type="button"
            aria-current={index === at - 1 ? 'true' : undefined}
            onClick={() => onGo(index + 1)}
          >
            <span className={classNames(ui.num, ui.muted)}>{index + 1}</span>
            <span className={css.who}>{wordOf[move.by]}</span>
            <span className={ui.cut}>
              {move.refused?.message ?? move.events.at(-1)?.text ?? move.at.title}
            </span>
          </button>
        </li>
      ))}
    </ol>
  </details>
);
