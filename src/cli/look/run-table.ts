import { ended, type State } from '../../machine/index.ts';
import type { Runtime } from '../../runtime/index.ts';
import { ago } from '../age.ts';
import type { Io } from '../io.ts';
import { renderLine } from '../paint.ts';
import { type Cell, table, textOf } from '../table.ts';
import { columnsOf, printable } from '../text.ts';
import { standsAt, statusLook } from '../view/run-view.ts';

type RunInfo = Awaited<ReturnType<Runtime['engine']['runs']>>[number];

export const isLive = ({ state }: RunInfo): boolean => state !== undefined && !ended(state);

export function runTable(runs: readonly RunInfo[], io: Io): string {
  const rows = runs.map(({ run, state, problem }): Cell[] =>
    state
      ? [
          ['bold', run],
          printable(state.workflow),
          [statusLook(state.status), printable(standsAt(state))],
          ['dim', ago(state.updatedAt, io.now())],
          printable(state.summary ?? ''),
        ]
      : [['bold', run], '', ['red', 'broken'], '', printable(problem ?? '')],
  );
  const needed = Math.max(...rows.map((cells) => 4 + columnsOf(cells.slice(0, 3).map(textOf).join(''))));
  // Where a run stands is never cut: it gets a line of its own.
  if (io.stdout.columns !== undefined && needed > io.stdout.columns)
    return rows
      .map(([name = '', workflow = '', stands = '', moved = '']) =>
        [[name], ['  ', workflow, '  ', moved], ['  ', stands]]
          .map((spans) => `${renderLine(spans, io.stdout)}\n`)
          .join(''),
      )
      .join('');
  return table(['run', 'workflow', 'stands at', 'moved', 'summary'], rows, io);
}

export function runJson({ run, state, problem }: RunInfo): object {
  return state ? { run, ...facts(state) } : { run, problem: problem ?? 'it cannot be read' };
}

const facts = (state: State): object => ({
  workflow: state.workflow,
  status: state.status,
  stands_at: standsAt(state),
  summary: state.summary ?? null,
  created_at: new Date(state.createdAt).toISOString(),
  updated_at: new Date(state.updatedAt).toISOString(),
});
