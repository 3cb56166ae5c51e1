/** The measured figures: a table for a terminal, the part of docs/driver.md, and its picture. */
import { printTable } from '../figures.ts';
import { drawChart, type Line } from '../plot.ts';
import { type Measured, stepCount, type Variant } from './measure.ts';

const titles: Record<Variant, string> = {
  none: 'no boundaries',
  compact: 'compact every third step',
  clear: 'clear before every step',
};

/** Each value with those before it. */
function added(values: readonly number[]): number[] {
  let sum = 0;
  return values.map((value) => {
    sum += value;
    return sum;
  });
}

const grouped = (value: number): string => value.toLocaleString('en-US');

function rowsOf(measured: readonly Measured[]): string[][] {
  const sums = measured.map(({ steps }) => added(steps));
  const count = sums[0]?.length ?? 0;
  const row = (name: string, cell: (each: Measured, index: number) => number): string[] => [
    name,
    ...measured.map((each, index) => grouped(cell(each, index))),
  ];
  return [
    ...Array.from({ length: count }, (_, step) =>
      row(`step ${step + 1}`, (_each, index) => sums[index]?.[step] ?? 0),
    ),
    row('largest request', ({ peak }) => peak),
    row('requests', ({ requests }) => requests),
    row('sessions', ({ sessions }) => sessions),
    row('compactions', ({ compactions }) => compactions),
  ];
}

const headOf = (measured: readonly Measured[]): string[] => [
  'input tokens so far',
  ...measured.map(({ variant }) => titles[variant]),
];

export function printMeasured(measured: readonly Measured[]): void {
  printTable([['input tokens so far', ...measured.map(({ variant }) => variant)], ...rowsOf(measured)]);
}

export interface About {
  date: string;
  claude: string;
  node: string;
}

export function section(measured: readonly Measured[], { date, claude, node }: About): string {
  const total = (variant: Variant): number =>
    measured.find((each) => each.variant === variant)?.steps.reduce((sum, each) => sum + each, 0) ?? 0;
  const rest = (variant: Variant): string => `${Math.round((100 * total(variant)) / total('none'))} %`;
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const ends = measured.map(({ variant }) => `${titles[variant]} ${grouped(total(variant))}`);
  return `The same 12 steps, each of which reads a file of 6 KB and writes a small one. With \`context: clear\` before every step the model got ${rest('clear')} of the input tokens, with \`context: compact\` before every third one ${rest('compact')}:

<p align="center"><img src="context-cost.svg" alt="Input tokens over 12 steps: ${ends.join(', ')}" width="960"></p>

${line(headOf(measured))}
${line(['---', ...measured.map(() => '---:')])}
${rowsOf(measured).map(line).join('\n')}

Measured on ${date} with Claude Code ${claude}, Node ${node.replace('v', '')} and a scripted model; repeat it with \`npm run context-cost\`. Each request counts whole (system, tools, messages; o200k), that of a compaction too. Prices are not compared: a prompt cache makes the repeated part of a long context cheaper. The scripted summary of a compaction is short; a real one adds its length to the requests that follow.
`;
}

const tones: Record<Variant, Line['tone']> = { none: 'pivot', compact: 'loop', clear: 'action' };

export const plot = (measured: readonly Measured[]): string =>
  drawChart({
    id: 'cost',
    title: 'Input tokens of a run, step by step',
    about: `${stepCount} steps driven by stepfast run, every request to the model added up`,
    below: 'step',
    ends: true,
    format: (tokens) => (tokens < 1e6 ? `${Math.round(tokens / 1000)} k` : `${tokens / 1e6} M`),
    panels: [
      {
        title: 'Input tokens so far',
        about: 'less is better',
        ticks: Array.from({ length: stepCount + 1 }, (_, step) => String(step)),
        lines: measured.map(({ variant, steps }) => ({
          name: titles[variant],
          tone: tones[variant],
          values: [0, ...added(steps)],
        })),
      },
    ],
  });
