import { commandName } from '../../command-name.ts';
import { ended, liveDriver, type Merge, type State, suffixOf } from '../../machine/index.ts';
import type { Span } from '../paint.ts';

const meanings: Record<Merge['state'], string> = {
  queued: 'waits to be merged',
  merging: 'is being merged',
  returned: 'goes back to an agent',
  parked: 'is parked',
};

/** What a driver does with the run, for its status: who drives it, where, and what is merged. */
export function driverLines(state: State, now: number): Span[][] {
  const { driver, branch, paused, merges = {}, held, run } = state;
  const label = (name: string): Span => ['dim', name.padEnd(8)];
  const live = liveDriver(state, now);
  const continues = `${commandName()} run --run ${suffixOf(run)}`;
  const who: Span[] = live
    ? [`process ${live.process.pid} on ${live.process.machine}`]
    : [
        ['yellow', 'none'],
        ['dim', `  continue with: ${continues}`],
      ];
  return [
    ...(branch === undefined ? [] : [[label('branch'), branch]]),
    ...(driver === undefined || ended(state) ? [] : [[label('driver'), ...who]]),
    ...(paused ? [[label('paused'), ['yellow', `by ${paused.by}`] as const]] : []),
    ...(held ? [[label('merge'), ['red', held.reason] as const]] : []),
    ...Object.entries(merges).map(([task, merge]): Span[] => [
      label('merge'),
      `${task} ${meanings[merge.state]}`,
      ['dim', merge.reason === undefined ? '' : `  ${merge.reason}`],
    ]),
  ];
}
