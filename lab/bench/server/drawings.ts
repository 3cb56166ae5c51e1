import { drawChart, type Line } from '../../plot.ts';
import { clientCounts, type Figures, type Measured, type Point, type Way } from './load.ts';

const lines: readonly { way: Way; name: string; tone: Line['tone']; dashed?: boolean }[] = [
  { way: 'bare', name: 'pgbench', tone: 'flow', dashed: true },
  { way: 'inProcess', name: 'in process', tone: 'action' },
  { way: 'http', name: 'two servers', tone: 'pivot' },
];

export function drawThroughput(figures: Figures): string {
  const ticks = clientCounts.map((clients) => `${clients}`);
  const of = (part: keyof Measured): Line[] =>
    lines.map(({ way, ...look }) => ({
      ...look,
      values: clientCounts.map((clients) => figures[way][clients]?.[part] ?? 0),
    }));
  return drawChart({
    id: 'scale-throughput',
    title: 'Advances of runs with 4 KB of state on two shared cores',
    about:
      'The bare statements in pgbench, engine and store in one process, two HTTP servers with all that belongs to them',
    below: 'clients',
    panels: [
      { title: 'Throughput, a second', about: 'more is better', ticks, dots: true, lines: of('perSecond') },
      { title: 'Median, ms', about: 'less is better', ticks, dots: true, lines: of('p50') },
      { title: '99th percentile, ms', about: 'less is better', ticks, dots: true, lines: of('p99') },
    ],
  });
}

export function drawGrowth(points: readonly Point[]): string {
  const ticks = points.map(({ runs }) => runs.toLocaleString('en'));
  const of = (part: 'p50' | 'p99'): Line[] => [
    { name: 'a thousand of them', tone: 'action', values: points.map(({ spread }) => spread[part]) },
    { name: 'any of them', tone: 'pivot', values: points.map(({ anywhere }) => anywhere[part]) },
  ];
  return drawChart({
    id: 'scale-growth',
    title: 'An advance in a database that fills up',
    about: 'Engine and store in process, 16 clients at work on a thousand runs or on any run',
    below: 'runs in the database',
    panels: [
      { title: 'Median, ms', about: 'less is better', ticks, dots: true, lines: of('p50') },
      { title: '99th percentile, ms', about: 'less is better', ticks, dots: true, lines: of('p99') },
    ],
  });
}
