import type { Card, Mark, Phase } from '../../../runtime/index.ts';
import { phaseCard, phaseHead, subStepCard } from './card.ts';
import { type Block, group, path, px, rect, type Shape, text, textWidth } from './shapes.ts';
import { measure } from './text.ts';
import type { Tone } from './theme.ts';

/** The position of a card. */
export interface Slot {
  top: number;
  height: number;
}

export interface Stack extends Block {
  slots: Slot[];
}

const pillHeight = 22;
const loopLane = 92;

/** Stacks cards vertically, with arrows and boundary marks between them. */
export function stack(
  items: readonly { before: Mark | undefined; block: Block }[],
  width: number,
  start: 'dot' | 'none',
): Stack {
  const shapes: Shape[] = [];
  const slots: Slot[] = [];
  const middle = width / 2;
  let y = 0;
  if (start === 'dot') {
    shapes.push(rect(middle - 5, 0, 10, 10, 5, 'fill-flow'));
    y = 10;
  }
  for (const [index, { before, block }] of items.entries()) {
    const joined = index > 0 || start === 'dot';
    if (before) {
      if (joined) shapes.push(path(`M${px(middle)} ${px(y)}v14`, 'stroke line-flow'));
      y += joined ? 14 : 0;
      shapes.push(...boundary(before, width, y));
      y += pillHeight;
    }
    if (joined || before) {
      const length = before ? 18 : 26;
      shapes.push(...arrowDown(middle, y, length));
      y += length;
    }
    shapes.push(group(0, y, block.shapes));
    slots.push({ top: y, height: block.height });
    y += block.height;
  }
  return { height: y, shapes, slots };
}

export function phaseBlock(phase: Phase, width: number): Block {
  return phase.subSteps.length > 0 ? loopBlock(phase, width) : phaseCard(phase, width);
}

/** A container with the sub-steps and the arrow back to the first. */
function loopBlock(phase: Phase, width: number): Block {
  const head = phaseHead(phase, width);
  const inner = width - 16 - loopLane;
  const items = phase.subSteps.map((sub: Card) => ({ before: sub.before, block: subStepCard(sub, inner) }));
  const stacked = stack(items, inner, 'none');
  const height = head.height + stacked.height + 16;
  return {
    height,
    shapes: [
      rect(0, 0, width, height, 12, 'fill-card'),
      rect(0, 0, width, height, 12, 'fill-loop line-loop thin soft tint'),
      ...head.shapes,
      group(16, head.height, [...stacked.shapes, ...backArrow(stacked.slots, inner)]),
    ],
  };
}

function backArrow(slots: readonly Slot[], edge: number): Shape[] {
  const [first, last] = [slots[0], slots.at(-1)];
  if (!first || !last) return [];
  const lane = edge + loopLane / 2;
  const top = first.top + Math.min(24, first.height * 0.3);
  const bottom = last.top + last.height - Math.min(24, last.height * 0.3);
  return [
    path(bracket(edge, lane, bottom, top), 'stroke line-loop'),
    arrowHead(edge, top, 'left', 'loop'),
    ...pill('each task', lane, (top + bottom) / 2, 'loop'),
  ];
}

/** A path from the edge out to the lane, along it, and back to the edge, on either side. */
export function bracket(edge: number, lane: number, from: number, to: number): string {
  const side = Math.sign(lane - edge);
  const way = Math.sign(to - from);
  const radius = Math.min(14, Math.abs(to - from) / 2, Math.abs(lane - edge));
  const sweepOut = side * way > 0 ? 1 : 0;
  return [
    `M${px(edge)} ${px(from)}`,
    `H${px(lane - side * radius)}`,
    `A${px(radius)} ${px(radius)} 0 0 ${sweepOut} ${px(lane)} ${px(from + way * radius)}`,
    `V${px(to - way * radius)}`,
    `A${px(radius)} ${px(radius)} 0 0 ${sweepOut} ${px(lane - side * radius)} ${px(to)}`,
    `H${px(edge + side * 4)}`,
  ].join('');
}

export function arrowHead(x: number, y: number, towards: 'left' | 'right', tone: Tone): Shape {
  const back = towards === 'left' ? 8 : -8;
  return path(`M${px(x)} ${px(y)}l${back} -4.5v9z`, `fill-${tone}`);
}

export function arrowDown(x: number, y: number, length: number): Shape[] {
  return [
    path(`M${px(x)} ${px(y)}v${px(length - 6)}`, 'stroke line-flow'),
    path(`M${px(x)} ${px(y + length)}l-4.5 -8h9z`, 'fill-flow'),
  ];
}

/** A centered label that covers the line beneath it. */
export function pill(label: string, x: number, y: number, tone: Tone): Shape[] {
  const width = measure(label, 'label') + 16;
  const at = [x - width / 2, y - 10, width, 20, 10] as const;
  return [
    rect(...at, 'fill-card'),
    rect(...at, `fill-${tone} line-${tone} thin soft wash`),
    text({ x, y: y + 4, room: width - 8, middle: true }, label, 'label', `fill-${tone}`),
  ];
}

function boundary(mark: Mark, width: number, y: number): Shape[] {
  const tail = { text: 'before each round', font: 'chip', look: 'fill-boundary', gap: 6 } as const;
  const parts = { text: mark.command, font: 'code', ...(mark.eachRound && { tail }) } as const;
  const room = textWidth(parts);
  const left = (width - room) / 2 - 11;
  const line = y + pillHeight / 2;
  return [
    path(`M0 ${px(line)}H${px(left - 6)}`, 'stroke dashed thin line-boundary soft'),
    path(`M${px(width - left + 6)} ${px(line)}H${px(width)}`, 'stroke dashed thin line-boundary soft'),
    rect(left, y, width - 2 * left, pillHeight, 11, 'fill-boundary line-boundary thin soft wash'),
    text(
      { x: width / 2, y: y + 15, room: room + 1, middle: true },
      mark.command,
      'code',
      'fill-boundary',
      parts.tail,
    ),
  ];
}
