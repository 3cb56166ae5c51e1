import { drawChart } from '../plot.ts';
import type { Slice } from './simulate.ts';

export function drawFleet(
  slices: readonly Slice[],
  { agents, minutes, calls }: { agents: number; minutes: number; calls: number },
): string {
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((share) => String(Math.round(share * minutes)));
  return drawChart({
    id: 'fleet',
    title: `${agents.toLocaleString('en')} agents at work for ${minutes} simulated minutes`,
    about: `${calls.toLocaleString('en')} calls, as fast as two servers and their database answer on two shared cores`,
    below: 'simulated minutes',
    panels: [
      {
        title: 'Answer, ms',
        about: 'of a call, whatever it is',
        ticks,
        lines: [
          { name: 'median', tone: 'action', values: slices.map(({ p50 }) => p50) },
          { name: '99th percentile', tone: 'pivot', values: slices.map(({ p99 }) => p99) },
        ],
      },
      {
        title: 'Memory, MB',
        about: 'resident, of each server',
        ticks,
        lines: [0, 1].map((server) => ({
          name: server === 0 ? 'one' : 'the other',
          tone: server === 0 ? ('action' as const) : ('loop' as const),
          values: slices.map(({ memory }) => (memory[server] ?? 0) / 2 ** 20),
        })),
      },
    ],
  });
}
