import { commandName } from '../../command-name.ts';
import { suffixOf } from '../../machine/index.ts';
import { ago, columnsOf, count, needCommand, needVerb, printable, truncate } from '../../messages/index.ts';
import type { RunSummary } from '../../runtime/index.ts';
import type { Io } from '../io.ts';
import { type Format, renderLine, type Span } from '../paint.ts';
import { type Symbols, symbolsFor } from '../view/symbols.ts';

const maxName = 30;
const idWidth = 8;

const colors: Record<RunSummary['tone'], Format> = {
  working: 'cyan',
  person: 'yellow',
  red: 'red',
  complete: 'green',
  failed: 'red',
  cancelled: 'dim',
};

/** All runs on one screen: what needs a person, then each run. */
export function watchFrame(runs: readonly RunSummary[], io: Io): string[] {
  const symbols = symbolsFor(io);
  const width = (io.stdout.columns ?? 80) - 1;
  const output = { ...io.stdout, columns: width };
  const line = (spans: readonly Span[]): string => renderLine(spans, output, symbols.more);
  if (runs.length === 0)
    return [line(['No live runs. Start one: ', ['cyan', `${commandName()} go "what to do"`]])];
  const needy = runs.filter(({ needs }) => needs.length > 0);
  const head = [
    count(runs.length, 'run'),
    needy.length === 0 ? 'nothing needs you' : `${needy.length} ${needy.length === 1 ? 'needs' : 'need'} you`,
  ];
  return [
    line([['dim', head.join(symbols.dot)]]),
    '',
    ...needy.flatMap((each) => needLines(each, symbols, io.now()).map(line)),
    ...(needy.length === 0 ? [] : ['']),
    ...rows(runs, symbols, io, width).map(line),
  ];
}

function needLines({ run, needs }: RunSummary, symbols: Symbols, now: number): Span[][] {
  return needs.flatMap(({ kind, title, what, since, task }): Span[][] => [
    [
      ['yellow', `${symbols.waits} ${needVerb[kind]} ${printable(title)}`],
      ['dim', `  ${ago(since, now)}  `],
      kind === 'context' ? '' : printable(what),
    ],
    ['  ', ['cyan', needCommand(kind, suffixOf(run), task)]],
  ]);
}

function rows(runs: readonly RunSummary[], symbols: Symbols, io: Io, width: number): Span[][] {
  const cells = runs.map((summary) => {
    const { run, step, tasks, updatedAt } = summary;
    return {
      summary,
      name: `${glyphOf(summary, symbols)} ${nameOf(summary, symbols)}`,
      id: suffixOf(run),
      progress: [
        `${step.index}/${step.total}`,
        tasks === undefined ? '' : `${tasks.done} of ${count(tasks.total, 'task')}`,
      ]
        .filter(Boolean)
        .join(symbols.dot),
      updated: ago(updatedAt, io.now()),
    };
  });
  const widest = (pick: (cell: (typeof cells)[number]) => string): number =>
    Math.max(...cells.map((cell) => columnsOf(pick(cell))));
  const [name, progress, updated] = [
    widest((cell) => cell.name),
    widest((cell) => cell.progress),
    widest((cell) => cell.updated),
  ];
  const room = width - name - idWidth - progress - updated - 8;
  return cells.flatMap((cell): Span[][] => {
    const { summary } = cell;
    const now: Span = [colors[summary.tone], printable(summary.now)];
    if (room < 24)
      return [
        [
          ['bold', cell.name],
          ['dim', `  ${cell.id}  ${cell.progress}  ${cell.updated}`],
        ],
        ['  ', now],
      ];
    return [
      [
        ['bold', padded(cell.name, name)],
        ['dim', `  ${padded(cell.id, idWidth)}  `],
        [colors[summary.tone], padded(cut(printable(summary.now), room, symbols.more), room)],
        ['dim', `  ${padded(cell.progress, progress)}  ${cell.updated}`],
      ],
    ];
  });
}

const glyphOf = ({ tone }: RunSummary, { done, here, bad, waits, open }: Symbols): string =>
  ({ working: here, person: waits, red: bad, complete: done, failed: bad, cancelled: open })[tone];

/** What the run is about, as the person said it. */
const nameOf = ({ summary, workflow }: RunSummary, { more }: Symbols): string =>
  cut(printable(summary ?? workflow), maxName, more);

const padded = (text: string, width: number): string =>
  `${text}${' '.repeat(Math.max(0, width - columnsOf(text)))}`;

const cut = (text: string, width: number, more: string): string => truncate(text, width, columnsOf, more);

/** One run on one line, for a pipe. */
export const summaryLine = (summary: RunSummary, symbols: Symbols): Span[] => {
  const { run, now, tone, needs } = summary;
  return [
    `${glyphOf(summary, symbols)} ${nameOf(summary, symbols)} ${suffixOf(run)}  `,
    [colors[tone], now],
    ...needs.flatMap(({ kind, what }): Span[] =>
      what === '' ? [] : [`  ${needVerb[kind].toLowerCase()}: ${what}`],
    ),
  ];
};
