import { ended, type State } from '../../machine/index.ts';
import { ago, columnsOf, printable } from '../../messages/index.ts';
import type { LocalRuntime } from '../../runtime/index.ts';
import type { Io } from '../io.ts';
import { renderLine } from '../paint.ts';
import { type Cell, table, textOf } from '../table.ts';
import { standsAt, statusLook } from '../view/run-view.ts';

type RunInfo = Awaited<ReturnType<LocalRuntime['engine']['runs']>>[number];

export const isLive = ({ state }: RunInfo): boolean => state !== undefined && !ended(state);

export function runTable(runs: readonly RunInfo[], io: Io): string {
  const rows = runs.map((info): Cell[] => {
    const { run } = info;
    return shown<Cell[]>(
      info,
      (state) => [
        ['bold', run],
        printable(state.workflow),
        [statusLook(state.status), printable(standsAt(state))],
        ['dim', ago(state.updatedAt, io.now())],
        printable(state.summary ?? ''),
      ],
      (problem) => [['bold', run], '', ['red', 'broken'], '', printable(problem)],
    );
  });
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

export const runJson = (info: RunInfo): object =>
  shown<object>(
    info,
    (state) => ({ run: info.run, ...facts(state) }),
    (problem) => ({ run: info.run, problem }),
  );

/** One run that cannot be shown must not hide the others. */
function shown<T>(
  { run, state, problem = 'it cannot be read' }: RunInfo,
  whole: (state: State) => T,
  broken: (problem: string) => T,
): T {
  if (!state) return broken(problem);
  try {
    return whole(state);
  } catch {
    return broken(`it is damaged and cannot be shown; look at it: stepfast log ${run}`);
  }
}

const facts = (state: State): object => ({
  workflow: state.workflow,
  status: state.status,
  stands_at: standsAt(state),
  summary: state.summary ?? null,
  created_at: new Date(state.createdAt).toISOString(),
  updated_at: new Date(state.updatedAt).toISOString(),
});
