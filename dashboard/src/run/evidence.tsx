import { type JSX, useState } from 'react';
import type { CheckPage, GatePage, RunPage } from '../api-types.ts';
import { classNames } from '../ui/class-names.ts';
import { Glyph } from '../ui/glyph.tsx';
import { gateMark, gateWord } from '../ui/marks.ts';
import { exactOnHover, tookText, useAgo } from '../ui/time.ts';
import ui from '../ui/ui.module.css';
import css from './evidence.module.css';
import type { Shown } from './gate-choice.ts';
import { Log } from './log.tsx';

interface Props {
  page: RunPage;
  shown: Shown | undefined;
  onShow(shown: Shown): void;
}

const shownAtFirst = 40;

export function Evidence({ page, shown, onShow }: Props): JSX.Element {
  const [isAll, setAll] = useState(false);
  const rows = page.evidence.flatMap((check) => check.gates.map((gate, index) => ({ check, gate, index })));
  const chosen = rows.find(({ check, index }) => check.id === shown?.check && index === shown.gate);
  const visible = isAll ? rows : rows.slice(0, shownAtFirst);
  return (
    <section className={classNames(ui.card, css.evidence)} aria-labelledby="evidence">
      <div className={css.list}>
        <header className={ui.cardHead}>
          <h2 id="evidence">Evidence</h2>
          <span className={classNames(ui.muted, ui.num)}>{rows.length}</span>
        </header>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
        <div className={css.scroll} tabIndex={0} role="region" aria-label="Gates that were run">
          <table className={css.table}>
            <thead>
              <tr>
                <th scope="col">Gate</th>
                <th scope="col">Result</th>
                <th scope="col">Tree</th>
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
  isOn: boolean;
  onChoose(): void;
}

function Proof({ check, gate, isOn, onChoose }: ProofProps): JSX.Element {
  const when = useAgo(check.now);
  const mark = check.state === 'interrupted' && gate.state === 'running' ? 'off' : gateMark[gate.state];
  const note = noteOf(check, gate);
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
            {gateWord(gate)}
            {note && <small className={ui.cut}>{note}</small>}
          </span>
        </span>
      </td>
      <td className={classNames(ui.mono, ui.muted)}>{check.tree?.slice(0, 7)}</td>
      <td className={quiet}>{gate.ms === undefined ? '' : tookText(gate.ms)}</td>
      <td className={quiet} {...exactOnHover(check.now)}>
        {when}
      </td>
    </tr>
  );
}

const roleText: Record<GatePage['role'], string | undefined> = {
  gate: undefined,
  until: 'ends the rounds',
  rerun: 'run again',
  run: 'run step',
  baseline: 'before the work',
};

function noteOf({ state }: CheckPage, { reused, before, role }: GatePage): string | undefined {
  if (state === 'interrupted') return 'interrupted';
  if (reused) return 'reused';
  if (before === 'fail') return 'failed before the work';
  return roleText[role];
}
