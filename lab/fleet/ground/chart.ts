import { escapeXml } from '../../../src/cli/graph/svg/shapes.ts';
import { styleSheet, type Tone } from '../../../src/cli/graph/svg/theme.ts';

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
  unit: string;
  lines: readonly Line[];
  /** Below the points, from left to right. */
  ticks: readonly string[];
  /** Where every point has a tick, it also has a dot. */
  dots?: boolean;
}

export interface Chart {
  id: string;
  title: string;
  about: string;
  panels: readonly Panel[];
  below: string;
}

const width = 960;
const margin = 32;
const gap = 74;
const top = 150;
const height = 200;
const bottom = top + height;

/** Panels side by side, each with an axis of its own that begins at 0. */
export function drawChart({ id, title, about, panels, below }: Chart): string {
  const left = margin + 44;
  const wide = (width - left - margin - 24 - (panels.length - 1) * gap) / panels.length;
  const drawn = panels.map((panel, index) => drawPanel(left + index * (wide + gap), wide, panel));
  const said = panels.flatMap(({ title: of, unit, ticks, lines }) =>
    lines.map(({ name, values }) => `${of}, ${name}: ${told(values, ticks, unit)}`),
  );
  const total = bottom + 66;
  return `<svg xmlns="http://www.w3.org/2000/svg" class="stepfast" width="${width}" height="${total}" viewBox="0 0 ${width} ${total}" role="img" aria-labelledby="${id}-title ${id}-desc">
  <title id="${id}-title">${escapeXml(title)}</title>
  <desc id="${id}-desc">${escapeXml(`${about}. ${said.join('; ')}`)}</desc>
  <style>
${styleSheet()}
  </style>
  <rect width="${width}" height="${total}" rx="12" class="fill-canvas"/>
  ${label(margin, 44, title, 'name', 'ink')}
  ${label(margin, 68, about, 'description', 'muted')}
  ${drawn.join('\n  ')}
  ${label(width / 2, total - 16, below, 'kind', 'muted', 'middle')}
</svg>
`;
}

function drawPanel(x: number, wide: number, { title, about, unit, lines, ticks, dots }: Panel): string {
  const most = niceCeiling(Math.max(1e-9, ...lines.flatMap(({ values }) => values)));
  const points = Math.max(1, ...lines.map(({ values }) => values.length));
  const acrossOf = (index: number, of: number): number => round(x + (of < 2 ? 0.5 : index / (of - 1)) * wide);
  const heightOf = (value: number): number => round(bottom - (value / most) * height);
  const grid = [0, 0.25, 0.5, 0.75, 1].map(
    (share) =>
      `<path d="M${round(x)} ${heightOf(share * most)}h${round(wide)}" class="stroke thin line-rule"/>${label(x - 8, heightOf(share * most) + 4, short(share * most), 'kind', 'muted', 'end')}`,
  );
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
  let from = x;
  const legend = lines.map(({ name, tone, dashed }) => {
    const at = from;
    from += 36 + name.length * 6.2;
    const dash = dashed ? ' style="stroke-dasharray:5 5"' : '';
    return `<path d="M${round(at)} 132h20" class="stroke line-${tone}"${dash}/>${label(at + 26, 136, name, 'chip', 'ink')}`;
  });
  return [
    `<g>${label(x, 100, `${title}, ${unit}`, 'id', 'ink')}${label(x, 116, about, 'chip', 'muted')}`,
    ...legend,
    ...grid,
    ...below,
    ...drawn,
    '</g>',
  ].join('');
}

const told = (values: readonly number[], ticks: readonly string[], unit: string): string =>
  values.length === ticks.length
    ? values.map((value, index) => `${short(value)} ${unit} at ${ticks[index]}`).join(', ')
    : `from ${short(values[0] ?? 0)} to ${short(values.at(-1) ?? 0)} ${unit}`;

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
