import { commandName } from '../../command-name.ts';
import type { ListedRun } from '../../engine/index.ts';
import { ended, type State } from '../../machine/index.ts';
import { ago, columnsOf, printable } from '../../messages/index.ts';
import { type LocalRuntime, positionText } from '../../runtime/index.ts';
import type { Io } from '../io.ts';
import { renderLine } from '../paint.ts';
import { type Cell, table, textOf } from '../table.ts';
import { statusColor } from '../view/run-view.ts';

type RunInfo = Awaited<ReturnType<LocalRuntime['engine']['runs']>>[number] | ListedRun;
type Shown = NonNullable<ListedRun['state']>;

export const isLive = ({ state }: RunInfo): boolean => state !== undefined && !ended(state);

export function runTable(runs: readonly RunInfo[], io: Io): string {
  const rows = runs.map((info): Cell[] => {
    const { run } = info;
    return withState<Cell[]>(
      info,
      (state) => [
        ['bold', run],
        printable(state.workflow),
        [statusColor(state.status), printable(positionOf(info, state))],
        ['dim', ago(state.updatedAt, io.now())],
        printable(state.summary ?? ''),
      ],
      (problem) => [['bold', run], '', ['red', 'broken'], '', printable(problem)],
    );
  });
  const needed = Math.max(...rows.map((cells) => 4 + columnsOf(cells.slice(0, 3).map(textOf).join(''))));
  // The position is never truncated: it gets its own line.
  if (io.stdout.columns !== undefined && needed > io.stdout.columns)
    return rows
      .map(([name = '', workflow = '', position = '', updated = '']) =>
        [[name], ['  ', workflow, '  ', updated], ['  ', position]]
          .map((spans) => `${renderLine(spans, io.stdout)}\n`)
          .join(''),
      )
      .join('');
  return table(['run', 'workflow', 'position', 'updated', 'summary'], rows, io);
}

export const runJson = (info: RunInfo): object =>
  withState<object>(
    info,
    (state) => ({ run: info.run, ...facts(state, positionOf(info, state)) }),
    (problem) => ({ run: info.run, problem }),
  );

/** A run that cannot be displayed must not hide the others. */
function withState<T>(
  { run, state, problem = 'unreadable' }: RunInfo,
  onState: (state: Shown) => T,
  onProblem: (problem: string) => T,
): T {
  if (!state) return onProblem(problem);
  try {
    return onState(state);
  } catch {
    return onProblem(`damaged; see: ${commandName()} log ${run}`);
  }
}

/** Lists of older servers have the whole state, as files do. */
const positionOf = (info: RunInfo, state: Shown): string =>
  'position' in info && info.position !== undefined ? info.position : positionText(state as State);

const facts = (state: Shown, position: string): object => ({
  workflow: state.workflow,
  status: state.status,
  stands_at: position,
  summary: state.summary ?? null,
  created_at: new Date(state.createdAt).toISOString(),
  updated_at: new Date(state.updatedAt).toISOString(),
});
