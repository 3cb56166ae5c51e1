import type { Briefing, Cap } from '../../context/index.ts';
import { escapeXml, px, rect, type Shape, text, toXml } from '../graph/svg/shapes.ts';
import { styleSheet } from '../graph/svg/theme.ts';
import { leftOut, spent } from './explain.ts';

const margin = 28;
const width = 760;
const rowHeight = 26;
const barHeight = 30;

type Name = Briefing['sections'][number]['name'];

/** Each section has the same color in every picture. */
const looks: Record<Name, string> = {
  run: 'fill-action',
  action: 'fill-boundary',
  instructions: 'fill-loop',
  notes: 'fill-review',
  differences: 'fill-pivot dimmed',
  done: 'fill-done',
  reading: 'fill-ralph',
  reminders: 'fill-action dimmed',
  variables: 'fill-boundary dimmed',
  questions: 'fill-loop dimmed',
  artifacts: 'fill-pivot',
  tasks: 'fill-review dimmed',
  kept: 'fill-flow dimmed',
};

/** A bar for the whole budget and a row for each section. Self-contained, with light and dark themes; deterministic. */
export function explainSvg({ id, run, sections, tokens, characters }: Briefing, cap: Cap): string {
  const inner = width - 2 * margin;
  // A cap in characters is drawn in characters.
  const unit = cap.tokens === undefined && cap.characters !== undefined ? 'characters' : 'tokens';
  const whole = Math.max({ tokens, characters }[unit], cap[unit] ?? 0);
  const top = margin + 62;
  const shapes: Shape[] = [
    text({ x: margin, y: margin + 18, room: inner }, `Briefing ${id}`, 'name', 'fill-ink', {
      text: run,
      font: 'kind',
      look: 'fill-muted',
      gap: 10,
    }),
    text(
      { x: margin, y: margin + 42, room: inner },
      spent(tokens, characters, cap),
      'description',
      'fill-muted',
    ),
    rect(margin, top, inner, barHeight, 6, 'fill-card line-rule thin'),
  ];
  let x = margin;
  for (const section of sections) {
    const part = (inner * section[unit]) / whole;
    shapes.push(rect(x, top, Math.max(part - 1, 0.5), barHeight, 2, looks[section.name]));
    x += part;
  }
  for (const [index, section] of sections.entries()) {
    const y = top + barHeight + 22 + index * rowHeight;
    const share = `${Math.round((100 * section.tokens) / tokens)} %`;
    shapes.push(
      rect(margin, y, 12, 12, 3, looks[section.name]),
      text({ x: margin + 22, y: y + 11, room: 210 }, section.title, 'label', 'fill-ink'),
      text(
        { x: margin + 240, y: y + 11, room: 70 },
        `${section.tokens.toLocaleString('en-US')}`,
        'code',
        'fill-ink',
      ),
      text({ x: margin + 300, y: y + 11, room: 50 }, share, 'code', 'fill-muted'),
      text({ x: margin + 350, y: y + 11, room: 340 }, leftOut(section).trim(), 'about', 'fill-muted'),
    );
  }
  const height = top + barHeight + 22 + sections.length * rowHeight + margin - 8;
  const about = `${spent(tokens, characters, cap)}: ${sections.map((each) => `${each.title} ${each.tokens}`).join(', ')}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" class="stepfast" width="${px(width)}" height="${px(height)}" viewBox="0 0 ${px(width)} ${px(height)}" role="img" aria-labelledby="stepfast-briefing-title stepfast-briefing-desc">
  <title id="stepfast-briefing-title">Where the tokens of a briefing go</title>
  <desc id="stepfast-briefing-desc">${escapeXml(about)}</desc>
  <style>
${styleSheet()}
.stepfast .dimmed{fill-opacity:.45}
  </style>
${toXml([rect(0.5, 0.5, width - 1, height - 1, 16, 'fill-canvas line-rule thin'), ...shapes])}</svg>
`;
}
