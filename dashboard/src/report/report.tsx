import { type JSX, useEffect, useMemo, useState } from 'react';
import type { CheckPage, NeedPage, ReportFile } from '../api-types.ts';
import { needDetail, needKey } from '../decide/needs.ts';
import { isStale, StaleNotices } from '../files/stale-notice.tsx';
import { textOf } from '../run/ansi.ts';
import Briefing from '../run/briefing.tsx';
import { Evidence } from '../run/evidence.tsx';
import { Facts } from '../run/facts.tsx';
import { firstShown, type Shown } from '../run/gate-choice.ts';
import Journal from '../run/journal.tsx';
import { Memory } from '../run/memory.tsx';
import { RunState } from '../run/run-state.tsx';
import { SpendingChart } from '../run/spending-chart.tsx';
import { Timeline } from '../run/timeline.tsx';
import { Workflow } from '../run/workflow.tsx';
import { toggleTheme } from '../theme.ts';
import { ThemeButton } from '../theme-button.tsx';
import { classNames } from '../ui/class-names.ts';
import { Glyph } from '../ui/glyph.tsx';
import { useKeys } from '../ui/keys.ts';
import { clockTime, dateText } from '../ui/time.ts';
import { Toasts } from '../ui/toast.tsx';
import ui from '../ui/ui.module.css';
import { Graph } from '../workflows/graph.tsx';
import css from './report.module.css';

/** The run page as a file: all its parts below each other, and nothing to decide. */
export function Report({ report }: { report: ReportFile }): JSX.Element {
  const { project, now, page, files, workflow } = report;
  const { row, needs, sessions, evidence, spending } = page;
  const [chosen, setShown] = useState<Shown | undefined>();
  const shown = chosen ?? firstShown(evidence);
  const stale = (files.positions ?? []).filter(isStale);
  const tones = useMemo(() => new Map(page.steps.map(({ id, tone }) => [id, tone])), [page]);
  const name = row.summary ?? row.workflow;
  const made = `${dateText(now)}, ${clockTime(now)}`;
  useEffect(() => {
    document.title = `${name} · ${project} · ${made}`;
  }, [name, project, made]);
  useKeys({ t: toggleTheme }, true, 'app');
  return (
    <main className={css.report}>
      <header>
        <div className={css.top}>
          <p className={ui.soft}>
            Stepfast report · <strong>{project}</strong> ·{' '}
            <time dateTime={new Date(now).toISOString()}>{made}</time>
          </p>
          <ThemeButton className={css.theme} />
        </div>
        <h1>{name}</h1>
        <RunState page={page} row={row} />
        <p className={classNames(css.id, ui.muted)}>
          Run <span className={ui.mono}>{row.run}</span>, started {dateText(row.createdAt)},{' '}
          {clockTime(row.createdAt)}
        </p>
      </header>
      {needs.length > 0 && <Needs needs={needs} />}
      <StaleNotices page={page} stale={stale} />
      <Facts page={page} stale={stale} />
      <nav className={css.contents} aria-label="Parts of the report">
        <a href="#workflow">Steps</a>
        {sessions.length > 0 && <a href="#sessions">Sessions</a>}
        {evidence.length > 0 && <a href="#evidence">Evidence</a>}
        <a href="#memory">Notes</a>
        {spending.length > 1 && <a href="#spending">Tokens</a>}
        <a href="#graph">Workflow</a>
        <a href="#briefing">Briefing</a>
        <a href="#journal">Journal</a>
      </nav>
      <Workflow page={page} stale={stale} onShow={setShown} />
      {sessions.length > 0 && <Timeline lanes={sessions} />}
      {evidence.length > 0 && <Evidence page={page} stale={stale} shown={shown} onShow={setShown} />}
      <Failures checks={evidence} />
      <Memory page={page} />
      {spending.length > 1 && <SpendingChart points={spending} />}
      <section className={ui.card} aria-labelledby="graph">
        <header className={ui.cardHead}>
          <h2 id="graph">The whole workflow</h2>
          <span className={classNames(ui.muted, ui.cut)}>{workflow.graph.description}</span>
        </header>
        <div className={css.graph}>
          <Graph graph={workflow.graph} tones={tones} />
        </div>
      </section>
      <Briefing run={row.run} />
      <Journal run={row.run} />
      <Toasts />
    </main>
  );
}

const Needs = ({ needs }: { needs: NeedPage[] }): JSX.Element => (
  <section className={css.needs} aria-label="What waits for a person" data-mark="person">
    {needs.map((need) => (
      <div key={needKey(need)}>
        <Glyph mark="person" size={18} isQuiet />
        <div>
          <p>
            <strong>{need.title}</strong> waits for a person
          </p>
          <p className={ui.pre}>{needDetail(need)}</p>
        </div>
      </div>
    ))}
  </section>
);

/** On paper, where no log can be opened: the end of what each failed gate printed. */
function Failures({ checks }: { checks: CheckPage[] }): JSX.Element {
  const failed = checks.flatMap(({ id, title, now, gates }) =>
    gates.flatMap(({ state, what, tail }, index) =>
      state === 'fail' && tail ? { key: `${id} ${index}`, title, now, what, tail } : [],
    ),
  );
  return (
    <div className={css.paper}>
      {failed.map(({ key, title, now, what, tail }) => (
        <section key={key}>
          <p>
            <strong className={ui.mono}>{what}</strong> failed in {title}, {dateText(now)}, {clockTime(now)}
          </p>
          <pre>
            {tail
              .split('\n')
              .map((raw) => textOf({ raw }))
              .join('\n')}
          </pre>
        </section>
      ))}
    </div>
  );
}
