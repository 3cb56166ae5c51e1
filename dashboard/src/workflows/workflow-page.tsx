import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ChevronRight } from 'lucide-react';
import { type JSX, useEffect, useMemo } from 'react';
import { Link } from 'wouter';
import { dryRunQuery, runQuery, type WorkflowSource, workflowQuery } from '../api/client.ts';
import type { WorkflowPage as Page } from '../api-types.ts';
import { runHref } from '../decide/needs.ts';
import { classNames } from '../ui/class-names.ts';
import { CopyText } from '../ui/copy.tsx';
import { Glyph } from '../ui/glyph.tsx';
import { Main } from '../ui/main.tsx';
import ui from '../ui/ui.module.css';
import { DryRun } from './dry-run.tsx';
import { useDryRunState } from './dry-run-state.ts';
import { Graph } from './graph.tsx';
import css from './workflows.module.css';

/** A workflow of the project, or the one that a run began with. */
export default function WorkflowPage({ source }: { source: WorkflowSource }): JSX.Element {
  const { data: page, error } = useQuery(workflowQuery(source));
  const name = page?.graph.name ?? ('name' in source ? source.name : source.run);
  useEffect(() => {
    document.title = `${name} · Workflow · Stepfast`;
  }, [name]);
  return (
    <Main>
      {page && <Loaded page={page} source={source} />}
      {error && !page && (
        <div className={ui.empty}>
          <h1>{error.message}</h1>
          <Link className={ui.btn} href="/workflows">
            All workflows
          </Link>
        </div>
      )}
    </Main>
  );
}

function Loaded({ page: { graph, isTrusted }, source }: { page: Page; source: WorkflowSource }): JSX.Element {
  const [state, change] = useDryRunState();
  const { data: dryRun, error } = useQuery({
    ...dryRunQuery(source, state.tasks, state.seed),
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  });
  const run = 'run' in source ? source.run : undefined;
  const { data: runPage } = useQuery({ ...runQuery(run ?? ''), enabled: run !== undefined });
  const tones = useMemo(() => runPage && new Map(runPage.steps.map(({ id, tone }) => [id, tone])), [runPage]);
  const moves = dryRun?.moves ?? [];
  const move = moves[Math.min(state.move, moves.length) - 1];
  return (
    <div className={css.page}>
      <header>
        <nav className={css.crumbs} aria-label="Breadcrumb">
          {run === undefined ? (
            <Link href="/workflows">Workflows</Link>
          ) : (
            <>
              <Link href="/">Runs</Link>
              <ChevronRight size={14} aria-hidden="true" />
              <Link href={runHref(run)} className={ui.cut}>
                {runPage?.row.summary ?? run}
              </Link>
            </>
          )}
        </nav>
        <h1>{graph.name}</h1>
        {graph.description && <p className={css.description}>{graph.description}</p>}
        <ul className={css.facts}>
          {[...(graph.type === 'custom' ? [] : [graph.type]), ...graph.facts].map((fact) => (
            <li key={fact}>{fact}</li>
          ))}
        </ul>
      </header>
      {isTrusted === false && (
        <div className={css.notice} data-mark="person">
          <Glyph mark="person" isQuiet size={18} />
          <div>
            <p>
              <strong>Its commands may not run on this machine yet.</strong> Read and trust them in a
              terminal:
            </p>
            <CopyText text={`stepfast trust ${run ?? graph.name}`} />
          </div>
        </div>
      )}
      <div className={css.columns}>
        <section aria-labelledby="steps" className={css.flow}>
          <h2 id="steps" className={css.title}>
            Steps <span className={classNames(ui.muted, ui.num)}>{graph.phases.length}</span>
            {tones && <span className={css.key}>The marks are of the run, the frame is of the dry run.</span>}
          </h2>
          <Graph graph={graph} tones={tones} here={move?.at} />
        </section>
        <div className={css.side}>
          <DryRun
            page={dryRun}
            error={error}
            state={state}
            hasTasks={graph.phases.some(({ type }) => type === 'loop')}
            onChange={change}
          />
        </div>
      </div>
    </div>
  );
}
