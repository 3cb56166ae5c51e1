import { ChevronRight, MoreHorizontal } from 'lucide-react';
import { type JSX, useRef } from 'react';
import { Link } from 'wouter';
import { useRow } from '../api/live-rows.ts';
import type { RunPage } from '../api-types.ts';
import { classNames } from '../ui/class-names.ts';
import { CopyText } from '../ui/copy.tsx';
import ui from '../ui/ui.module.css';
import css from './run.module.css';
import { RunState } from './run-state.tsx';

/** What a person can do to a run that does not wait. */
export type RunAction = 'pause' | 'unpause' | 'rewind' | 'dropTask' | 'cancel';

interface Props {
  page: RunPage;
  mayDecide: boolean;
  onAction(action: RunAction): void;
}

export function RunHeader({ page, mayDecide, onAction }: Props): JSX.Element {
  const row = useRow(page.row);
  return (
    <header className={css.header}>
      <nav className={css.crumbs} aria-label="Breadcrumb">
        <Link href="/">Runs</Link>
        <ChevronRight size={14} aria-hidden="true" />
        <CopyText text={row.run} />
      </nav>
      <div className={css.title}>
        <h1>{row.summary ?? row.workflow}</h1>
        {mayDecide && row.tone !== 'cancelled' && <Menu page={page} onAction={onAction} />}
      </div>
      <RunState page={page} row={row} />
    </header>
  );
}

function Menu({ page, onAction }: Omit<Props, 'mayDecide'>): JSX.Element {
  const ref = useRef<HTMLDivElement>(null);
  const { tone } = page.row;
  const hasEnded = tone === 'complete' || tone === 'failed';
  const isPaused = page.needs.some(({ kind }) => kind === 'pause');
  const hasTasks = page.steps.some(({ tasks = [] }) => tasks.some(({ end }) => end === undefined));
  const items: [RunAction, string][] = [
    ...(hasEnded ? [] : [isPaused ? (['unpause', 'Continue…'] as const) : (['pause', 'Pause…'] as const)]),
    ['rewind', 'Rewind to a step…'] as const,
    ...(hasTasks && !hasEnded ? [['dropTask', 'Drop a task…'] as const] : []),
    ...(hasEnded ? [] : [['cancel', 'Cancel the run…'] as const]),
  ].map(([action, text]) => [action, text]);
  return (
    <>
      <button
        type="button"
        className={classNames(ui.btn, ui.icon)}
        aria-label="Actions"
        popoverTarget="run-actions"
      >
        <MoreHorizontal size={16} aria-hidden="true" />
      </button>
      <div id="run-actions" popover="auto" ref={ref} className={css.menu}>
        {items.map(([action, text]) => (
          <button
            key={action}
            type="button"
            onClick={() => {
              ref.current?.hidePopover();
              onAction(action);
            }}
          >
            {text}
          </button>
        ))}
      </div>
    </>
  );
}
