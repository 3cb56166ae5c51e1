/** Share of facts in the briefing after each compaction: a panel for each host. */
import { escapeXml } from '../../src/cli/graph/svg/shapes.ts';
import { styleSheet } from '../../src/cli/graph/svg/theme.ts';
import type { HostOutcome } from './host.ts';
import { numbers, percent } from './outcome.ts';
import { label, round } from './plot.ts';

const width = 960;
const margin = 32;
const left = margin + 42;
const gap = 40;
const top = 118;
const height = 120;
const bottom = top + height;

export function hostPlot(outcomes: readonly HostOutcome[]): string {
  const count = Math.max(outcomes.length, 1);
  const panel = (width - left - margin - (count - 1) * gap) / count;
  const panels = outcomes.map((outcome, index) => drawPanel(outcome, left + index * (panel + gap), panel));
  const said = outcomes.map(({ host, kept }) => `${host}: ${percent(kept)}`).join('; ');
  const total = bottom + 60;
  return `<svg xmlns="http://www.w3.org/2000/svg" class="stepfast" width="${width}" height="${total}" viewBox="0 0 ${width} ${total}" role="img" aria-labelledby="hosts-title hosts-desc">
  <title id="hosts-title">What the briefing brings back in each host</title>
  <desc id="hosts-desc">${escapeXml(said)}</desc>
  <style>
${styleSheet()}
  </style>
  <rect width="${width}" height="${total}" rx="12" class="fill-canvas"/>
  ${label(margin, 46, 'What the briefing brings back in each host', 'name', 'ink')}
  ${label(margin, 70, 'share of facts after each compaction, with a summariser that forgets everything', 'description', 'muted')}
  ${panels.join('\n  ')}
  ${label(width / 2, total - 14, 'compactions', 'kind', 'muted', 'middle')}
</svg>
`;
}

function drawPanel(
  { host, where, compactions, kept, series }: HostOutcome,
  x: number,
  panel: number,
): string {
  const at = (share: number): number => round(bottom - share * height);
  const grid = [0, 0.5, 1].map(
    (share) =>
      `<path d="M${round(x)} ${at(share)}h${round(panel)}" class="stroke thin line-rule"/>${x === left ? label(x - 8, at(share) + 4, `${100 * share} %`, 'kind', 'muted', 'end') : ''}`,
  );
  const points = numbers(series).map(
    (share, index) => `${round(x + ((index + 1) / compactions) * panel)} ${at(share)}`,
  );
  return [
    `<g>${label(x, top - 24, `${host}  ${percent(kept)}`, 'id', 'ink')}${label(x, top - 9, `in the ${where}`, 'chip', 'muted')}`,
    ...grid,
    `<path d="M${round(x)} ${at(1)}L${points.join('L')}" class="stroke line-action" style="stroke-width:3.5"/>`,
    label(x + panel, bottom + 18, String(compactions), 'kind', 'muted', 'end'),
    '</g>',
  ].join('');
}
