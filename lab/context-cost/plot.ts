/** Input tokens over the steps of a run: a line for each variant. */
import { escapeXml } from '../../src/cli/graph/svg/shapes.ts';
import { styleSheet } from '../../src/cli/graph/svg/theme.ts';
import { type Measured, stepCount, type Variant } from './measure.ts';
import { added, grouped, titles } from './section.ts';

const width = 860;
const margin = 32;
const left = margin + 58;
const right = width - 96;
const top = 128;
const bottom = top + 220;
const total = bottom + 66;

const looks: Record<Variant, string> = { none: 'pivot', compact: 'loop', clear: 'action' };
const title = 'Input tokens of a run, step by step';

export function plot(measured: readonly Measured[]): string {
  const sums = measured.map(({ variant, steps }) => ({ variant, sums: added(steps) }));
  const highest = Math.max(...sums.flatMap((each) => each.sums));
  const rung = rungOf(highest);
  const rungs = Array.from({ length: Math.ceil(highest / rung) + 1 }, (_, index) => index * rung);
  const scale = rungs.at(-1) ?? highest;
  const x = (step: number): number => round(left + (step / stepCount) * (right - left));
  const y = (tokens: number): number => round(bottom - (tokens / scale) * (bottom - top));
  const about = `${stepCount} steps driven by stepfast run, every request to the model added up`;
  const ends = sums.map((each) => `${titles[each.variant]}: ${grouped(each.sums.at(-1) ?? 0)}`);
  const parts = [
    ...rungs.map(
      (tokens) =>
        `<path d="M${left} ${y(tokens)}H${right}" class="stroke thin line-rule"/>${label(left - 10, y(tokens) + 4, shortly(tokens), 'kind', 'muted', 'end')}`,
    ),
    ...Array.from({ length: stepCount }, (_, index) =>
      label(x(index + 1), bottom + 20, String(index + 1), 'kind', 'muted', 'middle'),
    ),
    ...sums.map(
      (each) =>
        `<path d="M${x(0)} ${y(0)}L${each.sums.map((tokens, index) => `${x(index + 1)} ${y(tokens)}`).join('L')}" class="stroke line-${looks[each.variant]}" style="stroke-width:2.5"/>`,
    ),
    ...sums.map((each) =>
      label(
        right + 10,
        y(each.sums.at(-1) ?? 0) + 4,
        shortly(each.sums.at(-1) ?? 0),
        'label',
        looks[each.variant],
      ),
    ),
    legend(measured),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" class="stepfast" width="${width}" height="${total}" viewBox="0 0 ${width} ${total}" role="img" aria-labelledby="cost-title cost-desc">
  <title id="cost-title">${title}</title>
  <desc id="cost-desc">${escapeXml(`${about}. ${ends.join('; ')}`)}</desc>
  <style>
${styleSheet()}
  </style>
  <rect width="${width}" height="${total}" rx="12" class="fill-canvas"/>
  ${label(margin, 42, title, 'name', 'ink')}
  ${label(margin, 64, about, 'description', 'muted')}
  ${parts.join('\n  ')}
  ${label((left + right) / 2, total - 18, 'step', 'kind', 'muted', 'middle')}
</svg>
`;
}

function legend(measured: readonly Measured[]): string {
  let x = margin;
  return measured
    .map(({ variant }) => {
      const at = x;
      x += 46 + titles[variant].length * 6.8 + 22;
      return `<path d="M${round(at)} 92h28" class="stroke line-${looks[variant]}" style="stroke-width:2.5"/>${label(at + 38, 96, titles[variant], 'about', 'ink')}`;
    })
    .join('');
}

/** 1, 2 or 5 times a power of ten: between four and nine rungs. */
function rungOf(highest: number): number {
  const power = 10 ** Math.floor(Math.log10(highest / 4));
  return [1, 2, 5].map((factor) => factor * power).findLast((rung) => highest / rung >= 4) ?? power;
}

const shortly = (tokens: number): string =>
  tokens >= 1_000_000
    ? `${Number((tokens / 1_000_000).toFixed(2))} M`
    : tokens === 0
      ? '0'
      : `${Math.round(tokens / 1000)} k`;

function label(
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

const round = (value: number): number => Math.round(value * 10) / 10;
