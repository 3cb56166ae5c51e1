import { escapeXml } from '../src/cli/graph/svg/shapes.ts';
import { styleSheet, type Tone } from '../src/cli/graph/svg/theme.ts';

export interface Line {
  name: string;
  tone: Tone;
  dashed?: boolean;
  /** One for each of the panel's `ticks`, or one for each moment where there are none. */
  values: readonly number[];
}

export interface Panel {
  title: string;
  about: string;
  lines: readonly Line[];
  /** Below the points, from left to right. */
  ticks: readonly string[];
  /** Where every point has a tick, it also has a dot. */
  dots?: boolean;
  /** The top of the axis, which is then labeled in the first panel alone. */
  most?: number;
}

export interface Chart {
  id: string;
  title: string;
  about: string;
  panels: readonly Panel[];
  below: string;
  height?: number;
  /** Writes the last value of each line at its end. */
  ends?: boolean;
  format?(value: number): string;
}

const width = 960;
const margin = 32;
const left = margin + 44;
const top = 150;

/** Panels side by side, each with an axis that begins at 0. Lines that all panels have are named once. */
export function drawChart(chart: Chart): string {
  const { id, title, about, panels, below, height = 200, ends = false, format = short } = chart;
  const gap = (panels.every(({ most }) => most !== undefined) ? 30 : 74) + (ends ? 44 : 0);
  const wide = (width - left - margin - (ends ? 44 : 24) - (panels.length - 1) * gap) / panels.length;
  const names = panels.map(({ lines }) => lines.map(({ name }) => name).join());
  const alike = panels.length > 1 && new Set(names).size === 1;
  const drawn = panels.map((panel, index) => {
    const x = left + index * (wide + gap);
    const [key, labeled] = [alike ? undefined : 132, index === 0 || panel.most === undefined];
    return drawPanel(panel, { x, wide, height, key, labeled, ends, format });
  });
  const told = panels.flatMap(({ title: of, ticks, lines }) =>
    lines.map(({ name, values }) => `${of}, ${name}: ${inWords(values, ticks, format)}`),
  );
  const total = top + height + 66;
  return `<svg xmlns="http://www.w3.org/2000/svg" class="stepfast" width="${width}" height="${total}" viewBox="0 0 ${width} ${total}" role="img" aria-labelledby="${id}-title ${id}-desc">
  <title id="${id}-title">${escapeXml(title)}</title>
  <desc id="${id}-desc">${escapeXml(`${about}. ${told.join('; ')}`)}</desc>
  <style>
${styleSheet()}
  </style>
  <rect width="${width}" height="${total}" rx="12" class="fill-canvas"/>
  ${label(margin, 44, title, 'name', 'ink')}
  ${label(margin, 68, about, 'description', 'muted')}
  ${alike ? legend(margin, 90, panels[0]?.lines ?? []) : ''}
  ${drawn.join('\n  ')}
  ${label(width / 2, total - 16, below, 'kind', 'muted', 'middle')}
</svg>
`;
}

interface Place {
  x: number;
  wide: number;
  height: number;
  /** Where the lines are named, if this panel names them. */
  key: number | undefined;
  labeled: boolean;
  ends: boolean;
  format(value: number): string;
}

function drawPanel({ title, about, lines, ticks, dots, most: fixed }: Panel, place: Place): string {
  const { x, wide, height, key, labeled, ends, format } = place;
  const most = fixed ?? niceCeiling(Math.max(1e-9, ...lines.flatMap(({ values }) => values)));
  const points = Math.max(1, ...lines.map(({ values }) => values.length));
  const bottom = top + height;
  const acrossOf = (index: number, of: number): number => round(x + (of < 2 ? 0.5 : index / (of - 1)) * wide);
  const heightOf = (value: number): number => round(bottom - (value / most) * height);
  const grid = [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const y = heightOf(share * most);
    const text = labeled ? label(x - 8, y + 4, format(share * most), 'kind', 'muted', 'end') : '';
    return `<path d="M${round(x)} ${y}h${round(wide)}" class="stroke thin line-rule"/>${text}`;
  });
  const below = ticks.map((tick, index) =>
    label(acrossOf(index, ticks.length), bottom + 20, tick, 'kind', 'muted', 'middle'),
  );
  const drawn = lines.map(({ values, tone, dashed }) => {
    const at = values.map((value, index) => ({ x: acrossOf(index, points), y: heightOf(value) }));
    const dash = dashed ? 'stroke-dasharray:5 5;' : '';
    const path = `<path d="M${at.map((point) => `${point.x} ${point.y}`).join('L')}" class="stroke line-${tone}" style="${dash}stroke-width:2.5"/>`;
    const marks = dots
      ? at.map((point) => `<circle cx="${point.x}" cy="${point.y}" r="4" class="fill-${tone}"/>`)
      : [];
    return path + marks.join('');
  });
  const last = lines.map(({ tone, values }) => {
    const value = values.at(-1) ?? 0;
    return { tone, text: format(value), y: heightOf(value) + 4 };
  });
  const shift = key === undefined ? 20 : 0;
  return [
    `<g>${label(x, 100 + shift, title, 'id', 'ink')}${label(x, 116 + shift, about, 'chip', 'muted')}`,
    ...(key === undefined ? [] : [legend(x, key, lines)]),
    ...grid,
    ...below,
    ...drawn,
    ...(ends ? spread(last).map(({ tone, text, y }) => label(x + wide + 6, y, text, 'label', tone)) : []),
    '</g>',
  ].join('');
}

function legend(x: number, y: number, lines: readonly Line[]): string {
  let from = x;
  return lines
    .map(({ name, tone, dashed }) => {
      const at = from;
      from += 36 + name.length * 6.2;
      const dash = dashed ? ' style="stroke-dasharray:5 5"' : '';
      return `<path d="M${round(at)} ${y}h20" class="stroke line-${tone}"${dash}/>${label(at + 26, y + 4, name, 'chip', 'ink')}`;
    })
    .join('');
}

/** The same text once, none over another. */
function spread<End extends { text: string; y: number }>(ends: readonly End[]): End[] {
  let last = Number.NEGATIVE_INFINITY;
  return [...new Map(ends.toReversed().map((end) => [end.text, end])).values()]
    .sort((one, other) => one.y - other.y)
    .map((end) => {
      last = Math.max(end.y, last + 15);
      return { ...end, y: last };
    });
}

const inWords = (values: readonly number[], ticks: readonly string[], format: (value: number) => string) =>
  values.length === ticks.length
    ? values.map((value, index) => `${format(value)} at ${ticks[index]}`).join(', ')
    : `from ${format(values[0] ?? 0)} to ${format(values.at(-1) ?? 0)}`;

/** The next of 1, 2, 4, 5, 8 and 10 of a power of ten: a quarter of it is short to write. */
function niceCeiling(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 4, 5, 8].find((step) => step * power >= value) ?? 10) * power;
}

const short = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(2)));

function label(
  x: number,
  y: number,
  text: string,
  font: string,
  tone: Tone,
  anchor: 'start' | 'middle' | 'end' = 'start',
): string {
  const where = anchor === 'start' ? '' : ` text-anchor="${anchor}"`;
  return `<text x="${round(x)}" y="${round(y)}" class="${font} fill-${tone}"${where}>${escapeXml(text)}</text>`;
}

const round = (value: number): number => Math.round(value * 10) / 10;
