import { count } from '../../messages/index.ts';
import { readArgs } from '../args.ts';
import { exit } from '../exit.ts';
import type { Io } from '../io.ts';
import { renderLine, type Span } from '../paint.ts';
import { printJson } from '../perform.ts';
import { openRuntime, placeOptions } from '../run-options.ts';
import { type Tally, tallyOf } from './count-stats.ts';

export const options = placeOptions;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values } = readArgs(args, options, { max: 0 });
  const tally = await tallyOf(openRuntime(io, values));
  if (values.json) return printJson(io, tallyJson(tally), exit.ok);
  if (tally.since === undefined) {
    io.stderr.write('Nothing to tell yet: Stepfast has done nothing here. Start: stepfast go "what to do"\n');
    return exit.ok;
  }
  io.stdout.write(`${tallyLines(tally, io).join('\n')}\n`);
  return exit.ok;
}

interface Row {
  number: number;
  words: string;
  /** What is worth saying where there is none of it. */
  none?: string;
  more?: string | undefined;
  look?: 'green' | 'yellow' | 'red';
}

/** What it was good for: only what there is, and one line for what there is not. */
export function tallyLines(tally: Tally, io: Io): string[] {
  const rows = rowsOf(tally);
  const shown = rows.filter(({ number }) => number > 0);
  const width = Math.max(0, ...shown.map(({ number }) => String(number).length));
  const line = (...spans: Span[]): string => renderLine(spans, io.stdout, io.unicode ? '…' : '...');
  const none = rows.flatMap((row) => (row.number === 0 && row.none !== undefined ? [row.none] : []));
  return [
    line(
      ['bold', `Since ${new Date(tally.since ?? 0).toISOString().slice(0, 10)}`],
      ['dim', `  ${runWords(tally)}`],
    ),
    '',
    ...shown.map(({ number, words, more, look = 'green' }) =>
      line(
        '  ',
        [['bold', look], String(number).padStart(width)],
        `  ${words}`,
        ...(more === undefined ? [] : [['dim', `, ${more}`] as const]),
      ),
    ),
    ...(none.length > 0
      ? [...(shown.length > 0 ? [''] : []), line(['dim', `None so far: ${none.join(', ')}.`])]
      : []),
  ];
}

function runWords({ runs, completed, verified }: Tally): string {
  const parts = [
    count(runs.all, 'run'),
    ...(runs.live > 0 ? [`${runs.live} live`] : []),
    ...(runs.complete > 0 ? [`${runs.complete} complete`] : []),
    ...(runs.unreadable > 0 ? [`${runs.unreadable} unreadable`] : []),
    ...(completed > 0 ? [`${verified} of ${count(completed, 'position')} verified by gates`] : []),
  ];
  return parts.join(', ');
}

function rowsOf(tally: Tally): Row[] {
  const { injected, proven, repaired, cut, gaveUp, factsLost, factsAsked } = tally;
  const one = (number: number, singular: string, plural: string): string =>
    number === 1 ? singular : plural;
  return [
    {
      number: tally.falseDone,
      words: 'false "done" caught: the agent said so, and the gates were red',
      none: 'false "done"',
    },
    {
      number: tally.skipsRefused,
      words: `${one(tally.skipsRefused, 'call', 'calls')} refused that would have skipped or repeated a step`,
      none: 'skipped steps',
    },
    {
      number: tally.verdictsRefused,
      words: `${one(tally.verdictsRefused, 'approval', 'approvals')} refused that an agent gave itself`,
    },
    {
      number: tally.compactions,
      words: `${one(tally.compactions, 'compaction', 'compactions')} survived`,
      more:
        factsAsked === 0
          ? undefined
          : `the ${one(tally.compactions, 'summary', 'summaries')} had lost ${factsLost} of ${factsAsked} facts that the run kept`,
      none: 'compactions',
    },
    {
      number: tally.clears,
      words: `fresh ${one(tally.clears, 'context', 'contexts')} briefed after a clear or a new session`,
    },
    {
      number: injected,
      words: `${one(injected, 'briefing', 'briefings')} injected`,
      more: proven > 0 ? `${proven} proven to have arrived` : undefined,
    },
    {
      number: repaired,
      words: `${one(repaired, 'injection', 'injections')} repaired that had not arrived`,
      more: cut > 0 ? `${cut} of them cut` : undefined,
    },
    {
      number: gaveUp,
      words: `${one(gaveUp, 'briefing', 'briefings')} given up after three tries`,
      look: 'red',
    },
    { number: tally.stopsHeld, words: `${one(tally.stopsHeld, 'stop', 'stops')} held`, none: 'stops held' },
    { number: tally.toolsDenied, words: `${one(tally.toolsDenied, 'tool', 'tools')} denied` },
    {
      number: tally.approvals + tally.rejections + tally.answers,
      words: 'decided by people',
      more: [
        count(tally.approvals, 'approval'),
        ...(tally.rejections > 0 ? [`${tally.rejections} sent back`] : []),
        ...(tally.answers > 0 ? [count(tally.answers, 'answer')] : []),
      ].join(', '),
    },
    {
      number: tally.hookErrors,
      words: `${one(tally.hookErrors, 'hook', 'hooks')} failed; the sessions went on. See: stepfast doctor`,
      look: 'yellow',
    },
  ];
}

function tallyJson({ since, runs, ...counts }: Tally): object {
  const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return {
    since: since === undefined ? null : new Date(since).toISOString(),
    runs,
    ...Object.fromEntries(Object.entries(counts).map(([name, number]) => [snake(name), number])),
  };
}
