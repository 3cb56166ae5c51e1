import { useQueries, useQuery } from '@tanstack/react-query';
import { type JSX, useEffect, useMemo, useRef, useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { overviewQuery, rowsQuery, windowSize } from '../api/client.ts';
import type { Overview, Row, Tone } from '../api-types.ts';
import { needPlace, runHref } from '../decide/needs.ts';
import { classNames } from '../ui/class-names.ts';
import { useKeys } from '../ui/keys.ts';
import { Main } from '../ui/main.tsx';
import { grouped } from '../ui/time.ts';
import ui from '../ui/ui.module.css';
import { narrow, useMedia } from '../ui/use-media.ts';
import { useWindow } from '../ui/use-window.ts';
import { EmptyProject } from './empty-project.tsx';
import { Needs } from './needs.tsx';
import { BlankRow, RunRow } from './run-row.tsx';
import css from './runs.module.css';

const views: [Tone, string][] = [
  ['working', 'Working'],
  ['person', 'Needs you'],
  ['red', 'Red'],
  ['complete', 'Complete'],
  ['failed', 'Failed'],
  ['cancelled', 'Cancelled'],
];

const viewOf = (name: string | null): Tone | undefined => views.find(([tone]) => tone === name)?.[0];

const sumOf = ({ counts }: Overview): number => Object.values(counts).reduce((sum, each) => sum + each, 0);

export default function RunsPage(): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const tone = viewOf(search.get('view'));
  const text = search.get('text') ?? '';
  const { data: overview, error } = useQuery(overviewQuery);
  const scroller = useRef<HTMLElement>(null);
  const needs = overview?.needs ?? [];
  useEffect(() => {
    document.title = needs.length > 0 ? `(${needs.length}) Runs · Stepfast` : 'Runs · Stepfast';
  }, [needs.length]);
  const show = (view: Tone | undefined, words: string): void => {
    const next = new URLSearchParams();
    if (view) next.set('view', view);
    if (words) next.set('text', words);
    setSearch(next, { replace: true });
  };
  const isFresh = overview !== undefined && sumOf(overview) === 0;
  return (
    <Main scroller={scroller}>
      <div className={css.runs}>
        <h1 className={ui.sr}>Runs</h1>
        {error && !overview && <p className={ui.empty}>{error.message}</p>}
        {isFresh && <EmptyProject project={overview.project} />}
        {needs.length > 0 && <Needs rows={needs} mayDecide={overview?.me.mayDecide ?? false} />}
        {!isFresh && (
          <>
            <div className={css.stick}>
              <nav className={css.views} aria-label="Views">
                <View
                  name="All"
                  count={overview && sumOf(overview)}
                  isOn={!tone}
                  onChoose={() => show(undefined, text)}
                />
                {views.map(([id, name]) => (
                  <View
                    key={id}
                    name={name}
                    count={overview?.counts[id]}
                    isOn={id === tone}
                    onChoose={() => show(id, text)}
                  />
                ))}
              </nav>
              <Filter text={text} onChange={(words) => show(tone, words)} />
            </div>
            <List
              key={`${tone ?? 'all'} ${text}`}
              scroller={scroller}
              tone={tone}
              text={text}
              expected={overview && (tone ? overview.counts[tone] : sumOf(overview))}
              needs={needs}
            />
          </>
        )}
      </div>
    </Main>
  );
}

interface ViewProps {
  name: string;
  count: number | undefined;
  isOn: boolean;
  onChoose(): void;
}

const View = ({ name, count, isOn, onChoose }: ViewProps): JSX.Element => (
  <button type="button" aria-current={isOn} onClick={onChoose}>
    {name} <span className={ui.num}>{count === undefined ? '' : grouped(count)}</span>
  </button>
);

const typingMs = 200;

function Filter({ text, onChange }: { text: string; onChange(text: string): void }): JSX.Element {
  const [typed, setTyped] = useState(text);
  const field = useRef<HTMLInputElement>(null);
  const latest = useRef(onChange);
  latest.current = onChange;
  useKeys({ '/': () => field.current?.focus() });
  useEffect(() => {
    if (typed.trim() === text) return;
    const timer = setTimeout(() => latest.current(typed.trim()), typingMs);
    return () => clearTimeout(timer);
  }, [typed, text]);
  return (
    <input
      ref={field}
      type="search"
      className={classNames(ui.field, css.filter)}
      aria-label="Filter runs"
      aria-keyshortcuts="/"
      placeholder="Filter  /"
      value={typed}
      onChange={(event) => setTyped(event.target.value)}
      onKeyDown={({ key, currentTarget }) => {
        if (key === 'Escape' || key === 'Enter') currentTarget.blur();
      }}
    />
  );
}

interface ListProps {
  scroller: React.RefObject<HTMLElement | null>;
  tone: Tone | undefined;
  text: string;
  /** The count of the view, until the rows say how many match. */
  expected: number | undefined;
  needs: Row[];
}

function List({ scroller, tone, text, expected, needs }: ListProps): JSX.Element {
  const [, go] = useLocation();
  const body = useRef<HTMLDivElement>(null);
  const isSmall = useMedia(narrow);
  const height = isSmall ? 64 : 44;
  const [matched, setMatched] = useState<number | undefined>();
  const total = matched ?? (text ? 0 : (expected ?? 0));
  const { first, last, isSettled, show } = useWindow(scroller, body, {
    count: total,
    height,
    over: 6,
    inset: isSmall ? 100 : 90,
  });
  const windows = useMemo(() => {
    const from = Math.floor(first / windowSize);
    const to = Math.max(from, Math.floor(Math.max(0, last - 1) / windowSize));
    return Array.from({ length: to - from + 1 }, (_, i) => from + i);
  }, [first, last]);
  const { found, counted, error } = useQueries({
    queries: windows.map((index) => ({ ...rowsQuery(tone, text, index), enabled: isSettled })),
    combine: (results) => ({
      found: new Map(results.map(({ data }, i) => [windows[i], data])),
      counted: results.find(({ data }) => data)?.data?.total,
      error: results.find((result) => result.error)?.error,
    }),
  });
  useEffect(() => {
    if (counted !== undefined) setMatched(counted);
  }, [counted]);

  const [at, setAt] = useState(-1);
  const rowAt = (index: number): Row | undefined =>
    found.get(Math.floor(index / windowSize))?.rows[index % windowSize];
  const move = (to: number): void => {
    if (total === 0) return;
    const next = Math.max(0, Math.min(total - 1, to));
    setAt(next);
    show(next);
  };
  const inSight = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 600) / height) - 2);
  const open = (event: KeyboardEvent): void => {
    const row = rowAt(at);
    const { target } = event;
    const isControl = target instanceof HTMLAnchorElement || target instanceof HTMLButtonElement;
    if (isControl) target.click();
    else if (row) go(runHref(row.run));
  };
  useKeys({
    j: () => move(at + 1),
    ArrowDown: () => move(at + 1),
    k: () => move(at - 1),
    ArrowUp: () => move(at - 1),
    PageDown: () => move(at + inSight),
    PageUp: () => move(at - inSight),
    Home: () => move(0),
    End: () => move(total - 1),
    Enter: open,
    ...Object.fromEntries(
      needs
        .slice(0, 9)
        .map(({ run, need }, i) => [String(i + 1), () => go(need ? needPlace(run, need) : runHref(run))]),
    ),
  });

  const indexes = Array.from({ length: Math.max(0, last - first) }, (_, i) => first + i);
  return (
    <>
      <div
        className={css.grid}
        role="grid"
        aria-label="Runs"
        aria-rowcount={total + 1}
        tabIndex={0}
        aria-activedescendant={at >= first && at < last ? `row-${at}` : undefined}
        onFocus={({ target, currentTarget }) => {
          if (target === currentTarget && at < 0 && total > 0 && target.matches(':focus-visible'))
            setAt(first);
        }}
      >
        <div role="rowgroup" className={css.head}>
          <div role="row" className={css.row} aria-rowindex={1}>
            {['Run', 'Now', 'Step', 'Evidence', 'Moved'].map((name) => (
              <span key={name} role="columnheader">
                {name}
              </span>
            ))}
          </div>
        </div>
        <div role="rowgroup" className={css.body} ref={body} style={{ height: total * height }}>
          <div role="presentation" style={{ transform: `translateY(${first * height}px)` }}>
            {indexes.map((index) => {
              const row = rowAt(index);
              return row ? (
                <RunRow key={index} row={row} index={index} isOn={index === at} isSmall={isSmall} />
              ) : (
                <BlankRow key={index} index={index} />
              );
            })}
          </div>
        </div>
      </div>
      {error && <p className={ui.empty}>{error.message}</p>}
      {matched === 0 && <p className={ui.empty}>{text ? `No run matches “${text}”.` : 'No runs here.'}</p>}
    </>
  );
}
