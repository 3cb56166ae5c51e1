import { useQuery } from '@tanstack/react-query';
import { type JSX, Suspense, useEffect, useRef, useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { filesQuery, overviewQuery, runQuery } from '../api/client.ts';
import type { NeedPage, RunPage as Page, PositionFiles } from '../api-types.ts';
import { needHref, needKey, runHref } from '../decide/needs.ts';
import { isStale, StaleNotices } from '../files/stale-notice.tsx';
import { classNames } from '../ui/class-names.ts';
import { useKeys } from '../ui/keys.ts';
import { lazily } from '../ui/lazily.tsx';
import { Main } from '../ui/main.tsx';
import { setTitle } from '../ui/title.ts';
import ui from '../ui/ui.module.css';
import { Banner, RedBanner } from './banner.tsx';
import { Evidence } from './evidence.tsx';
import { Facts } from './facts.tsx';
import { firstShown, type Shown } from './gate-choice.ts';
import { Memory } from './memory.tsx';
import css from './run.module.css';
import { type RunAction, RunHeader } from './run-header.tsx';
import { SpendingChart } from './spending-chart.tsx';
import { Timeline } from './timeline.tsx';
import { Workflow } from './workflow.tsx';

const TaskGraph = lazily(() => import('./task-graph.tsx'));
const Journal = lazily(() => import('./journal.tsx'));
const Briefing = lazily(() => import('./briefing.tsx'));
const Dialog = lazily(() => import('../decide/dialog.tsx'));

const tabs = [
  ['', 'Run'],
  ['journal', 'Journal'],
  ['briefing', 'Briefing'],
] as const;

export default function RunPage({ run }: { run: string }): JSX.Element {
  const { data: page, error } = useQuery(runQuery(run));
  return (
    <Main>
      {page && <Loaded key={run} page={page} />}
      {error && !page && (
        <div className={ui.empty}>
          <h1>{error.message}</h1>
          <Link className={ui.btn} href="/">
            All runs
          </Link>
        </div>
      )}
    </Main>
  );
}

function Loaded({ page }: { page: Page }): JSX.Element {
  const [, go] = useLocation();
  const [search] = useSearchParams();
  const { data: overview } = useQuery(overviewQuery);
  const [action, setAction] = useState<RunAction | undefined>();
  const [chosenGate, setShown] = useState<Shown | undefined>(() => firstShown(page.evidence));
  const shown = chosenGate ?? firstShown(page.evidence);
  const { data: files } = useQuery(filesQuery(page.row.run));
  const stale = (files?.positions ?? []).filter(isStale);
  const { row, needs } = page;
  const mayDecide = overview?.me.mayDecide ?? false;
  const tab = search.get('tab') ?? '';
  const decide = search.get('decide');
  // Of a need that is gone meanwhile the dialog stays: it has the person's words.
  const chosen = useRef<NeedPage | undefined>(undefined);
  const isChosen = (each: NeedPage): boolean => mayDecide && needKey(each) === decide;
  chosen.current = [...needs, ...(chosen.current ? [chosen.current] : [])].find(isChosen);
  const need = chosen.current;
  const name = row.summary ?? row.workflow;
  const waiting = overview?.counts.person ?? 0;
  useEffect(() => {
    setTitle(`${waiting > 0 ? `(${waiting}) ` : ''}${name} · Stepfast`);
  }, [name, waiting]);
  useEffect(() => {
    // A decision must not wait for the code of its dialog.
    if (mayDecide) void Dialog.fetch();
  }, [mayDecide]);
  useKeys({
    a: () => {
      if (needs[0] && mayDecide) go(needHref(row.run, needs[0]));
    },
  });
  const show = (gate: Shown): void => {
    if (tab !== '') go(runHref(row.run));
    setShown(gate);
    requestAnimationFrame(() => document.getElementById('evidence')?.scrollIntoView({ block: 'center' }));
  };
  const close = (): void => {
    setAction(undefined);
    if (decide !== null) go(runHref(row.run), { replace: true });
  };
  return (
    <div className={css.run}>
      <RunHeader page={page} mayDecide={mayDecide} onAction={setAction} />
      {needs.length > 0 && overview && <Banner run={row.run} needs={needs} mayDecide={mayDecide} />}
      {row.tone === 'red' && <RedBanner evidence={page.evidence} onShow={show} />}
      <StaleNotices page={page} stale={stale} />
      <Facts page={page} stale={stale} />
      <nav className={css.tabs} aria-label="Parts of the run">
        {tabs.map(([id, text]) => (
          <Link
            key={id}
            href={`${runHref(row.run)}${id ? `?tab=${id}` : ''}`}
            aria-current={id === tab ? 'page' : undefined}
          >
            {text}
          </Link>
        ))}
      </nav>
      <Suspense fallback={<div className={css.waiting} aria-busy />}>
        {tab === 'journal' && <Journal run={row.run} />}
        {tab === 'briefing' && <Briefing run={row.run} />}
      </Suspense>
      {tab === '' && <Parts page={page} stale={stale} shown={shown} onShow={show} onChoose={setShown} />}
      <Suspense>
        {(need || action) && <Dialog page={page} need={need} action={action} onClose={close} />}
      </Suspense>
    </div>
  );
}

interface PartsProps {
  page: Page;
  stale: readonly PositionFiles[];
  shown: Shown | undefined;
  /** From elsewhere on the page: brings the log into view. */
  onShow(shown: Shown): void;
  onChoose(shown: Shown): void;
}

function Parts({ page, stale, shown, onShow, onChoose }: PartsProps): JSX.Element {
  return (
    <>
      <Workflow
        page={page}
        stale={stale}
        TaskGraph={TaskGraph}
        href={`${runHref(page.row.run)}/workflow`}
        onShow={onShow}
      />
      {page.sessions.length > 0 && <Timeline lanes={page.sessions} />}
      {page.evidence.length > 0 && <Evidence page={page} stale={stale} shown={shown} onShow={onChoose} />}
      <div className={classNames(css.pair, page.spending.length > 1 && css.both)}>
        <Memory page={page} />
        {page.spending.length > 1 && <SpendingChart points={page.spending} />}
      </div>
    </>
  );
}
