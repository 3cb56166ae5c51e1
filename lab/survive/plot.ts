/** Share of facts kept over compactions: a panel for each summariser, a line for each mechanism. */
import { escapeXml } from '../../src/cli/graph/svg/shapes.ts';
import { styleSheet } from '../../src/cli/graph/svg/theme.ts';
import { type MechanismName, mechanismNames } from './mechanism.ts';
import { numbers, type Outcome, percent } from './outcome.ts';
import { type SummariserName, summariserNames } from './summarisers.ts';

const width = 960;
const margin = 32;
/** Right of a panel, for the values at its end. */
const gap = 62;
const top = 176;
const height = 200;
const left = margin + 42;
const panel = (width - left - 3 * gap) / 3 + 4;
const bottom = top + height;

const titles: Record<SummariserName, [name: string, about: string]> = {
  forgets: ['Forgets everything', 'no fact is in the summary'],
  measured: ['Keeps as measured', 'most sentences, few paths, no commands'],
  keeps: ['Keeps everything', 'all that stood in the context'],
};
export const mechanismTitles: Record<MechanismName, string> = {
  stepfast: 'Stepfast',
  'seed-002': 'state file and guidance text (seed 002)',
  none: 'neither',
};
const looks: Record<MechanismName, { tone: string; width: number; dash: string }> = {
  stepfast: { tone: 'action', width: 3.5, dash: '' },
  'seed-002': { tone: 'pivot', width: 2, dash: '' },
  // Drawn last, so that what lies below shows through.
  none: { tone: 'flow', width: 2, dash: '5 5' },
};

export function plot(outcomes: readonly Outcome[]): string {
  const [first] = outcomes;
  const compactions = first?.compactions ?? 0;
  const parts = summariserNames.map((name, index) =>
    drawPanel(
      left + index * (panel + gap),
      name,
      outcomes.filter(({ summariser }) => summariser === name),
      compactions,
    ),
  );
  const about = `${first?.facts} facts, ${compactions} compactions of the real Claude Code, ${first?.manual} by hand and ${first?.auto} automatic`;
  const said = outcomes.map(
    ({ mechanism, summariser, kept }) => `${mechanismTitles[mechanism]}, ${summariser}: ${percent(kept)}`,
  );
  const total = bottom + 74;
  return `<svg xmlns="http://www.w3.org/2000/svg" class="stepfast" width="${width}" height="${total}" viewBox="0 0 ${width} ${total}" role="img" aria-labelledby="survival-title survival-desc">
  <title id="survival-title">What the model still gets to see after each compaction</title>
  <desc id="survival-desc">${escapeXml(`${about}. ${said.join('; ')}`)}</desc>
  <style>
${styleSheet()}
  </style>
  <rect width="${width}" height="${total}" rx="12" class="fill-canvas"/>
  ${label(margin, 46, 'What the model still gets to see after each compaction', 'name', 'ink')}
  ${label(margin, 70, about, 'description', 'muted')}
  ${legend()}
  ${parts.join('\n  ')}
  ${label(width / 2, total - 18, 'compactions', 'kind', 'muted', 'middle')}
</svg>
`;
}

function legend(): string {
  let x = margin;
  return mechanismNames
    .map((name) => {
      const at = x;
      x += 44 + mechanismTitles[name].length * 6.6 + 22;
      return `${line(`M${at} 96h28`, name)}${label(at + 38, 100, mechanismTitles[name], 'about', 'ink')}`;
    })
    .join('');
}

function drawPanel(
  x: number,
  name: SummariserName,
  outcomes: readonly Outcome[],
  compactions: number,
): string {
  const [title, about] = titles[name];
  const at = (share: number): number => round(bottom - share * height);
  const grid = [0, 0.25, 0.5, 0.75, 1].map(
    (share) =>
      `<path d="M${round(x)} ${at(share)}h${round(panel)}" class="stroke thin line-rule"/>${x === left ? label(x - 8, at(share) + 4, `${100 * share} %`, 'kind', 'muted', 'end') : ''}`,
  );
  const ticks = [0, 0.5, 1].map((share) =>
    label(x + share * panel, bottom + 20, String(Math.round(share * compactions)), 'kind', 'muted', 'middle'),
  );
  const drawn = mechanismNames.flatMap((mechanism) => {
    const found = outcomes.find((each) => each.mechanism === mechanism);
    if (!found) return [];
    const points = numbers(found.series).map(
      (share, index) => `${round(x + ((index + 1) / compactions) * panel)} ${at(share)}`,
    );
    return [line(`M${round(x)} ${at(1)}L${points.join('L')}`, mechanism)];
  });
  const ends = spread(
    mechanismNames.flatMap((mechanism) => {
      const found = outcomes.find((each) => each.mechanism === mechanism);
      return found
        ? [{ tone: looks[mechanism].tone, text: percent(found.keptAtTheEnd), y: at(found.keptAtTheEnd) + 4 }]
        : [];
    }),
  ).map(({ tone, text, y }) => label(x + panel + 6, y, text, 'label', tone));
  return [
    `<g>${label(x, top - 34, title, 'id', 'ink')}${label(x, top - 17, about, 'chip', 'muted')}`,
    ...grid,
    ...ticks,
    ...drawn,
    ...ends,
    '</g>',
  ].join('');
}

interface End {
  tone: string;
  text: string;
  y: number;
}

/** Values at the right ends, the same ones once, none over another. */
function spread(ends: readonly End[]): End[] {
  const sorted = ends
    .filter(({ text }, index) => ends.findIndex((other) => other.text === text) === index)
    .toSorted((one, other) => one.y - other.y);
  let last = Number.NEGATIVE_INFINITY;
  return sorted.map((end) => {
    last = Math.max(end.y, last + 15);
    return { ...end, y: last };
  });
}

const line = (d: string, name: MechanismName): string => {
  const { tone, width: thick, dash } = looks[name];
  const dashed = dash === '' ? '' : `stroke-dasharray:${dash};`;
  return `<path d="${d}" class="stroke line-${tone}" style="${dashed}stroke-width:${thick}"/>`;
};

export function label(
  x: number,
  y: number,
  text: string,
  font: string,
  tone: string,
  anchor: 'start' | 'middle' | 'end' = 'start',
): string {
  const where = anchor === 'start' ? '' : ` text-anchor="${anchor}"`;
  return `<text x="${round(x)}" y="${round(y)}" class="${font} fill-${tone}"${where}>${escapeXml(text)}</text>`;
}

export const round = (value: number): number => Math.round(value * 10) / 10;
