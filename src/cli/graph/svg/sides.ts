import type { Graph, Phase, Pivot } from '../../../runtime/index.ts';
import { arrowHead, bracket, pill, type Slot } from './flow.ts';
import { group, path, type Shape, text } from './shapes.ts';
import { type FontName, measure, truncate } from './text.ts';

const laneGap = 30;
const widestPivots = 150;
const widestNote = 128;

export interface Side {
  /** Width of the area next to the cards. */
  width: number;
  /** Shapes, with x = 0 at the edge of the cards. */
  draw(slots: readonly Slot[]): Shape[];
}

/** Left of the cards: an arrow for each pivot, in separate lanes. */
export function pivotSide(graph: Graph): Side {
  if (graph.pivots.length === 0) return { width: 0, draw: () => [] };
  const lanes = assignLanes(graph.pivots);
  const count = Math.max(...lanes) + 1;
  const half = (measure('pivot', 'label') + 16) / 2;
  const spacing = Math.min(laneGap, (widestPivots - 34 - half) / Math.max(1, count - 1));
  return {
    width: 34 + (count - 1) * spacing + half,
    draw: (slots) => drawPivots(graph, lanes, spacing, slots),
  };
}

/** Right of the cards: the arrow of each ralph step to itself, with its limit and condition. */
export function roundSide(graph: Graph): Side {
  const ralphs = graph.phases.filter(({ type }) => type === 'ralph');
  if (ralphs.length === 0) return { width: 0, draw: () => [] };
  const widest = Math.max(...ralphs.flatMap(roundNotes).map((note) => measure(note.text, note.font)));
  const room = Math.min(widestNote, widest);
  return {
    width: 36 + room,
    draw: (slots) =>
      graph.phases.flatMap((phase, index) => {
        const slot = slots[index];
        return phase.type === 'ralph' && slot ? drawRounds(phase, slot, room) : [];
      }),
  };
}

/** Assigns the first lane without overlap; short spans first, so that they are innermost. */
function assignLanes(pivots: readonly Pivot[]): number[] {
  const span = ({ from, to }: Pivot): number => Math.abs(from - to);
  const shortFirst = pivots
    .map((pivot, index) => ({ pivot, index }))
    .sort((a, b) => span(a.pivot) - span(b.pivot) || a.index - b.index);
  const taken: Pivot[][] = [];
  const lanes: number[] = [];
  for (const { pivot, index } of shortFirst) {
    let lane = taken.findIndex((others) => others.every((other) => !overlaps(pivot, other)));
    if (lane === -1) lane = taken.push([]) - 1;
    taken[lane]?.push(pivot);
    lanes[index] = lane;
  }
  return lanes;
}

const overlaps = (a: Pivot, b: Pivot): boolean =>
  Math.min(a.from, a.to) <= Math.max(b.from, b.to) && Math.min(b.from, b.to) <= Math.max(a.from, a.to);

function drawPivots(
  graph: Graph,
  lanes: readonly number[],
  spacing: number,
  slots: readonly Slot[],
): Shape[] {
  const lines: Shape[] = [];
  const labels: Shape[] = [];
  const placed: number[] = [];
  for (const [index, pivot] of graph.pivots.entries()) {
    const [source, target] = [slots[pivot.from], slots[pivot.to]];
    if (!source || !target) continue;
    // Outer lanes arrive above inner ones and leave below them, to minimize crossings.
    const outside = (end: 'from' | 'to'): number =>
      graph.pivots.filter(
        (other, nth) => other[end] === pivot[end] && (lanes[nth] ?? 0) > (lanes[index] ?? 0),
      ).length;
    const lane = -34 - (lanes[index] ?? 0) * spacing;
    const to = target.top + Math.min(22 + outside('to') * 13, target.height / 2);
    const from = source.top + source.height - Math.min(20 + outside('from') * 13, source.height / 2 - 8);
    let middle = (from + to) / 2;
    while (placed.some((other) => Math.abs(other - middle) < 26)) middle += 26;
    placed.push(middle);
    const dashed = pivot.causes.includes('review') ? '' : ' dashed';
    const title = pivotTitle(graph, pivot);
    const line = path(bracket(0, lane, from, to), `stroke line-pivot${dashed}`);
    lines.push(group(0, 0, [line, arrowHead(0, to, 'right', 'pivot')], title));
    labels.push(group(0, 0, pill('pivot', lane, middle, 'pivot'), title));
  }
  return [...lines, ...labels];
}

function pivotTitle(graph: Graph, { from, to, causes }: Pivot): string {
  const cause = causes.map((one) => (one === 'review' ? 'its review' : 'its budget')).join(' or ');
  return `${graph.phases[from]?.id} can pivot to ${graph.phases[to]?.id} after ${cause}; the context is cleared`;
}

interface Note {
  text: string;
  font: FontName;
}

function roundNotes(phase: Phase): Note[] {
  const shown = phase.until.slice(0, 2);
  const more = phase.until.length - shown.length;
  return [
    { text: `up to ${phase.rounds} ×${phase.until.length > 0 ? ' until' : ''}`, font: 'label' },
    ...shown.map(({ text, code }): Note => ({ text, font: code ? 'code' : 'chip' })),
    ...(more > 0 ? [{ text: `and ${more} more`, font: 'chip' } satisfies Note] : []),
  ];
}

function drawRounds(phase: Phase, slot: Slot, room: number): Shape[] {
  const notes = roundNotes(phase);
  const inset = Math.min(24, slot.height * 0.28);
  const [top, bottom] = [slot.top + inset, slot.top + slot.height - inset];
  const firstLine = (top + bottom) / 2 - ((notes.length - 1) * 17) / 2 + 4;
  const whole = `up to ${phase.rounds} rounds${phase.until.length > 0 ? ` until ${phase.until.map(({ text }) => text).join(' and ')}` : ''}`;
  return [
    group(
      0,
      0,
      [
        path(bracket(0, 24, bottom, top), 'stroke line-ralph'),
        arrowHead(0, top, 'left', 'ralph'),
        ...notes.map((note, index) =>
          text(
            { x: 36, y: firstLine + index * 17, room },
            truncate(note.text, room, note.font),
            note.font,
            index === 0 ? 'fill-ralph' : 'fill-ink',
          ),
        ),
      ],
      whole,
    ),
  ];
}
