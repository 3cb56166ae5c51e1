import { commandName } from '../../command-name.ts';
import { count } from '../../messages/index.ts';
import { readArgs } from '../args.ts';
import { exit } from '../exit.ts';
import type { Io } from '../io.ts';
import { renderLine, type Span } from '../paint.ts';
import { printJson } from '../perform.ts';
import { openRuntime, projectOptions } from '../run-options.ts';
import { collectStats, type Stats } from './collect-stats.ts';

export const options = projectOptions;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values } = readArgs(args, options, { max: 0 });
  const stats = await collectStats(openRuntime(io, values));
  if (values.json) return printJson(io, statsJson(stats), exit.ok);
  if (stats.since === undefined) {
    io.stderr.write(`No statistics yet. Start a run: ${commandName()} go "what to do"\n`);
    return exit.ok;
  }
  io.stdout.write(`${statsLines(stats, io).join('\n')}\n`);
  return exit.ok;
}

interface Row {
  number: number;
  text: string;
  /** Listed under "None so far" when the number is 0. */
  none?: string;
  more?: string | undefined;
  look?: 'green' | 'yellow' | 'red';
}

/** One line per non-zero count, and one line that lists the zeros. */
export function statsLines(stats: Stats, io: Io): string[] {
  const rows = rowsOf(stats);
  const shown = rows.filter(({ number }) => number > 0);
  const width = Math.max(0, ...shown.map(({ number }) => String(number).length));
  const line = (...spans: Span[]): string => renderLine(spans, io.stdout, io.unicode ? '…' : '...');
  const none = rows.flatMap((row) => (row.number === 0 && row.none !== undefined ? [row.none] : []));
  return [
    line(
      ['bold', `Since ${new Date(stats.since ?? 0).toISOString().slice(0, 10)}`],
      ['dim', `  ${runCounts(stats)}`],
    ),
    '',
    ...shown.map(({ number, text, more, look = 'green' }) =>
      line(
        '  ',
        [['bold', look], String(number).padStart(width)],
        `  ${text}`,
        ...(more === undefined ? [] : [['dim', `, ${more}`] as const]),
      ),
    ),
    ...(none.length > 0
      ? [...(shown.length > 0 ? [''] : []), line(['dim', `None so far: ${none.join(', ')}.`])]
      : []),
  ];
}

function runCounts({ runs, completed, verified }: Stats): string {
  const parts = [
    count(runs.all, 'run'),
    ...(runs.live > 0 ? [`${runs.live} live`] : []),
    ...(runs.complete > 0 ? [`${runs.complete} complete`] : []),
    ...(runs.unreadable > 0 ? [`${runs.unreadable} unreadable`] : []),
    ...(completed > 0 ? [`${verified} of ${count(completed, 'position')} verified by gates`] : []),
  ];
  return parts.join(', ');
}

function rowsOf(stats: Stats): Row[] {
  const { injected, proven, repaired, cut, gaveUp, factsLost, factsAsked } = stats;
  const one = (number: number, singular: string, plural: string): string =>
    number === 1 ? singular : plural;
  return [
    {
      number: stats.falseDone,
      text: `false ${one(stats.falseDone, 'claim', 'claims')} of completion caught by gates`,
      none: 'false claims of completion',
    },
    {
      number: stats.skipsRefused,
      text: `${one(stats.skipsRefused, 'attempt', 'attempts')} to skip or repeat a step refused`,
      none: 'skipped steps',
    },
    {
      number: stats.verdictsRefused,
      text: `self-${one(stats.verdictsRefused, 'approval', 'approvals')} by agents refused`,
    },
    {
      number: stats.compactions,
      text: `${one(stats.compactions, 'compaction', 'compactions')} survived`,
      more:
        factsAsked === 0
          ? undefined
          : `${factsLost} of ${factsAsked} facts lost in ${one(stats.compactions, 'the summary', 'summaries')} and restored`,
      none: 'compactions',
    },
    {
      number: stats.clears,
      text: `fresh ${one(stats.clears, 'context', 'contexts')} briefed after a clear or a new session`,
    },
    {
      number: injected,
      text: `${one(injected, 'briefing', 'briefings')} injected`,
      more: proven > 0 ? `${proven} confirmed as delivered` : undefined,
    },
    {
      number: repaired,
      text: `undelivered ${one(repaired, 'briefing', 'briefings')} repaired`,
      more: cut > 0 ? `${cut} truncated` : undefined,
    },
    {
      number: gaveUp,
      text: `${one(gaveUp, 'briefing', 'briefings')} abandoned after three attempts`,
      look: 'red',
    },
    {
      number: stats.stopsHeld,
      text: `early ${one(stats.stopsHeld, 'stop', 'stops')} blocked`,
      none: 'early stops',
    },
    { number: stats.toolsDenied, text: `tool ${one(stats.toolsDenied, 'call', 'calls')} denied` },
    {
      number: stats.approvals + stats.rejections + stats.answers,
      text: `${one(stats.approvals + stats.rejections + stats.answers, 'decision', 'decisions')} by people`,
      more: [
        count(stats.approvals, 'approval'),
        ...(stats.rejections > 0 ? [`${stats.rejections} sent back`] : []),
        ...(stats.answers > 0 ? [count(stats.answers, 'answer')] : []),
      ].join(', '),
    },
    {
      number: stats.hookErrors,
      text: `${one(stats.hookErrors, 'hook', 'hooks')} failed without stopping the session. Run: ${commandName()} doctor`,
      look: 'yellow',
    },
  ];
}

function statsJson({ since, runs, ...counts }: Stats): object {
  const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return {
    since: since === undefined ? null : new Date(since).toISOString(),
    runs,
    ...Object.fromEntries(Object.entries(counts).map(([name, number]) => [snake(name), number])),
  };
}
