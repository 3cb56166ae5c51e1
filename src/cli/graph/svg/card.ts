import type { Card, Phase } from '../../../runtime/index.ts';
import { type IconName, icon } from './icons.ts';
import { type Block, paragraph, rect, type Shape, text } from './shapes.ts';
import { type FontName, measure, truncate } from './text.ts';
import type { Tone } from './theme.ts';

interface Chip {
  icon: IconName;
  tone: Tone;
  font: FontName;
  text: string;
}

const chipHeight = 22;
const gap = 6;

/** Draws badge, id, type, agent, first line of the instructions, and chips. */
export function phaseHead(phase: Phase, width: number): Block {
  const badge = [rect(0, 0, 24, 24, 7, `fill-${phase.type}`), icon(phase.type, 5, 5, 'card')];
  return head(phase, {
    width,
    pad: 16,
    indent: 36,
    font: 'id',
    badge,
    kind: phase.type,
    chips: phaseChips(phase),
  });
}

export function phaseCard(phase: Phase, width: number): Block {
  return framed(phaseHead(phase, width), width, 12, 'fill-card line-rule thin');
}

export function subStepCard(card: Card, width: number): Block {
  const badge = [rect(0, 7, 10, 10, 5, 'stroke line-loop')];
  const inner = head(card, {
    width,
    pad: 13,
    indent: 20,
    font: 'sub',
    badge,
    kind: '',
    chips: cardChips(card),
  });
  return framed(inner, width, 10, 'fill-card line-rule thin');
}

function framed(block: Block, width: number, radius: number, look: string): Block {
  return { height: block.height, shapes: [rect(0, 0, width, block.height, radius, look), ...block.shapes] };
}

interface Head {
  width: number;
  pad: number;
  /** Distance from the padding to the text next to the badge. */
  indent: number;
  font: 'id' | 'sub';
  badge: Shape[];
  kind: string;
  chips: Chip[];
}

function head(card: Card, { width, pad, indent, font, badge, kind, chips }: Head): Block {
  const left = pad + indent;
  const right = width - pad;
  const shapes: Shape[] = [{ kind: 'group', x: pad, y: pad, children: badge }];

  const agent = card.agent === undefined ? [] : [agentChip(card.agent)];
  const agentWidth = agent.length > 0 ? Math.min(chipWidth(agent[0]), (right - left) * 0.4) : 0;
  if (agent[0]) shapes.push(...drawChip(agent[0], right - agentWidth, pad + 1, agentWidth));

  const idRoom = right - left - (agentWidth > 0 ? agentWidth + 10 : 0);
  const address = card.title === undefined ? [] : [card.id];
  const look = kind === '' ? 'fill-muted' : `fill-${kind}`;
  const about = [...address, ...(kind === '' ? [] : [kind])].join(' · ');
  const tail =
    about === ''
      ? undefined
      : ({ text: truncate(about, idRoom / 2, 'kind'), font: 'kind', look, gap: 9 } as const);
  const name = card.title ?? card.id;
  shapes.push(text({ x: left, y: pad + 17, room: idRoom }, name, font, 'fill-ink', tail));

  let bottom = pad + 24;
  const place = { x: left, y: bottom + 16, room: right - left, lineHeight: 18, most: 2 };
  const instructions = paragraph(place, card.about, 'about', 'fill-muted');
  shapes.push(...instructions.shapes);
  if (instructions.height > 0) bottom += instructions.height + 2;
  const rows = chipRows(chips, right - left);
  if (rows.height > 0) {
    shapes.push({ kind: 'group', x: left, y: bottom + 10, children: rows.shapes });
    bottom += 10 + rows.height;
  }
  return { height: bottom + pad, shapes };
}

/** Lays out chips in rows. */
function chipRows(chips: readonly Chip[], width: number): Block {
  const shapes: Shape[] = [];
  let [x, y] = [0, 0];
  for (const chip of chips) {
    const wanted = Math.min(chipWidth(chip), width);
    if (x > 0 && x + wanted > width) [x, y] = [0, y + chipHeight + gap];
    shapes.push(...drawChip(chip, x, y, wanted));
    x += wanted + gap;
  }
  return { height: chips.length === 0 ? 0 : y + chipHeight, shapes };
}

const chipWidth = (chip: Chip | undefined): number => (chip ? 24 + measure(chip.text, chip.font) + 9 : 0);

function drawChip(chip: Chip, x: number, y: number, width: number): Shape[] {
  // Half a pixel of slack, so that rounding never truncates a text that fits exactly.
  const room = width - 33 + 0.5;
  return [
    rect(x, y, width, chipHeight, 6, `fill-${chip.tone} wash`),
    icon(chip.icon, x + 6, y + 4, chip.tone),
    text({ x: x + 24, y: y + 15, room }, chip.text, chip.font, 'fill-ink'),
  ];
}

const agentChip = (agent: string): Chip => ({ icon: 'agent', tone: 'muted', font: 'chip', text: agent });

function cardChips(card: Card): Chip[] {
  return [
    ...(card.when === undefined
      ? []
      : [{ icon: 'when', tone: 'muted', font: 'code', text: `if ${card.when}` } satisfies Chip]),
    ...card.gates.map(
      (gate): Chip => ({ icon: 'gate', tone: 'gate', font: gate.code ? 'code' : 'chip', text: gate.text }),
    ),
    ...(card.failure === undefined
      ? []
      : [{ icon: 'failure', tone: 'pivot', font: 'chip', text: card.failure } satisfies Chip]),
    ...(card.readOnly
      ? [{ icon: 'readOnly', tone: 'muted', font: 'chip', text: 'read only' } satisfies Chip]
      : []),
    ...(card.artefacts
      ? [{ icon: 'artefacts', tone: 'muted', font: 'chip', text: 'artefacts' } satisfies Chip]
      : []),
  ];
}

function phaseChips(phase: Phase): Chip[] {
  const limits = phase.budget?.join(' · ') ?? '';
  return [
    ...(phase.type === 'loop' && phase.parallel > 1
      ? [
          {
            icon: 'parallel',
            tone: 'loop',
            font: 'chip',
            text: `${phase.parallel} tasks at once`,
          } satisfies Chip,
        ]
      : []),
    ...(phase.tasks === undefined
      ? []
      : [{ icon: 'input', tone: 'loop', font: 'chip', text: phase.tasks } satisfies Chip]),
    ...cardChips(phase),
    ...(phase.review === undefined
      ? []
      : [
          {
            icon: phase.review === 'human' ? 'person' : 'agent',
            tone: 'review',
            font: 'chip',
            text: phase.review === 'human' ? 'a person reviews' : `${phase.review} reviews`,
          } satisfies Chip,
        ]),
    ...(limits === '' ? [] : [{ icon: 'budget', tone: 'ralph', font: 'chip', text: limits } satisfies Chip]),
  ];
}
