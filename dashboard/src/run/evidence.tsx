import { type JSX, useState } from 'react';
import type { CheckPage, GatePage, PositionFiles, RunPage } from '../api-types.ts';
import { classNames } from '../ui/class-names.ts';
import { Glyph } from '../ui/glyph.tsx';
import { verdictOf } from '../ui/marks.ts';
import { shortHash } from '../ui/short-hash.ts';
import { exactOnHover, tookText, useAgo } from '../ui/time.ts';
import ui from '../ui/ui.module.css';
import css from './evidence.module.css';
import type { Shown } from './gate-choice.ts';
import { Log } from './log.tsx';

interface Props {
  page: RunPage;
  /** Open positions whose files are no longer those that their gates saw. */
  stale: readonly PositionFiles[];
  shown: Shown | undefined;
  onShow(shown: Shown): void;
}

const shownAtFirst = 40;

export function Evidence({ page, stale, shown, onShow }: Props): JSX.Element {
  const [isAll, setAll] = useState(false);
  const rows = page.evidence.flatMap((check) => check.gates.map((gate, index) => ({ check, gate, index })));
  const chosen = rows.find(({ check, index }) => check.id === shown?.check && index === shown.gate);
  const hasTrees = page.evidence.some(({ tree }) => tree !== undefined);
  const visible = isAll ? rows : rows.slice(0, shownAtFirst);
  return (
    <section className={classNames(ui.card, css.evidence)} aria-labelledby="evidence">
      <div className={css.list}>
        <header className={ui.cardHead}>
          <h2 id="evidence">Evidence</h2>
          <span className={classNames(ui.muted, ui.num)}>
            {rows.length === 1 ? '1 gate run' : `${rows.length} gate runs`}
          </span>
        </header>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
        <div className={css.scroll} tabIndex={0} role="region" aria-label="Gates that were run">
          <table className={css.table}>
            <thead>
              <tr>
                <th scope="col">Gate</th>
                <th scope="col">Result</th>
                {hasTrees && (
                  <th scope="col" title="The state of all files that the gate saw">
                    Tree
                  </th>
                )}
                <th scope="col">Took</th>
                <th scope="col">When</th>
              </tr>
            </thead>
            <tbody>
              {visible.map(({ check, gate, index }) => (
                <Proof
                  key={`${check.id} ${index}`}
                  check={check}
                  gate={gate}
                  hasTrees={hasTrees}
                  isStale={stale.some((each) => each.check === check.id)}
                  isOn={check === chosen?.check && index === chosen.index}
                  onChoose={() => onShow({ check: check.id, gate: index })}
                />
              ))}
            </tbody>
          </table>
          {visible.length < rows.length && (
            <button
              type="button"
              className={classNames(ui.btn, ui.ghost, ui.small)}
              onClick={() => setAll(true)}
            >
              Show all {rows.length}
            </button>
          )}
        </div>
      </div>
      {chosen && (
        <Log
          key={`${chosen.check.id} ${chosen.index}`}
          run={page.row.run}
          check={chosen.check}
          gate={chosen.gate}
          index={chosen.index}
        />
      )}
    </section>
  );
}

interface ProofProps {
  check: CheckPage;
  gate: GatePage;
  hasTrees: boolean;
  isStale: boolean;
  isOn: boolean;
  onChoose(): void;
}

function Proof({ check, gate, hasTrees, isStale, isOn, onChoose }: ProofProps): JSX.Element {
  const when = useAgo(check.now);
  const verdict = verdictOf(gate, isStale);
  const mark = check.state === 'interrupted' && gate.state === 'running' ? 'off' : verdict.mark;
  const note = isStale ? staleNote[gate.state] : noteOf(check, gate);
  const quiet = classNames(ui.num, ui.muted);
  return (
    <tr className={isOn ? css.on : undefined}>
      <td>
        <button type="button" onClick={onChoose} aria-pressed={isOn}>
          <span className={classNames(ui.mono, ui.cut)}>{gate.what}</span>
          <span className={classNames(css.at, ui.cut)}>{check.title}</span>
        </button>
      </td>
      <td>
        <span className={css.verdict} data-mark={mark}>
          <Glyph mark={mark} size={14} isQuiet />
          <span>
            {verdict.word}
            {note && <small>{note}</small>}
          </span>
        </span>
      </td>
      {hasTrees && <td className={classNames(ui.mono, ui.muted)}>{check.tree && shortHash(check.tree)}</td>}
      <td className={quiet}>{gate.ms === undefined ? '' : tookText(gate.ms)}</td>
      <td className={quiet} {...exactOnHover(check.now)}>
        {when}
      </td>
    </tr>
  );
}

const staleNote: Partial<Record<GatePage['state'], string>> = {
  pass: 'passed before',
  fail: 'files changed since',
};

const roleText: Record<GatePage['role'], string | undefined> = {
  gate: undefined,
  until: 'ends the rounds',
  rerun: 'run again',
  run: 'run step',
  baseline: 'before the work',
};

function noteOf({ state }: CheckPage, { reused, before, role, reportedBy }: GatePage): string | undefined {
  if (state === 'interrupted') return 'interrupted';
  if (reportedBy) return 'reported by the agent';
  if (reused) return 'reused';
  if (before === 'fail') return 'failed before the work';
  return roleText[role];
}
