import type { Inlinable } from './artifacts-part.ts';
import type { ListedPart, PartName } from './briefing-part.ts';
import { costOf, fits, sum, type TextSize } from './text-size.ts';

export interface FilledPart {
  part: ListedPart;
  lines: string[];
  shown: number;
  cost: TextSize;
  /** The artifacts whose text is shown. */
  inlined: string[];
  /** The artifacts that have a line or their text. */
  listed: string[];
}

interface Piece {
  part: PartName;
  text: string;
  cost: TextSize;
  /** The artifact whose text it is, instead of its line. */
  artifact?: Inlinable;
}

/**
 * One order for every budget, and a budget shows a beginning of it: so a larger one never shows less. First each part
 * up to its share, then short artifacts, then what is left of each part, then long artifacts: one that does not fit
 * ends it all. The pointer of a part is paid until all of it is shown.
 */
export function splitBudget(
  parts: readonly ListedPart[],
  artifacts: readonly Inlinable[],
  room: TextSize,
): FilledPart[] {
  const shown = new Map(parts.map(({ name }) => [name, 0]));
  const taken: Piece[] = [];
  let best = 0;
  let spent: TextSize = { tokens: 0, characters: 0 };
  for (const step of inOrder(parts, artifacts)) {
    spent = sum(spent, step.cost);
    if (!fits(spent, room)) break;
    taken.push(step);
    if (step.artifact === undefined) shown.set(step.part, (shown.get(step.part) ?? 0) + 1);
    const pointers = parts.filter(({ name, total }) => (shown.get(name) ?? 0) < total).map(pointerCost);
    if (fits(sum(spent, ...pointers), room)) best = taken.length;
  }
  return parts.map((part) => filled(part, taken.slice(0, best)));
}

/** Grows as long as a run does: beyond its share it comes after what somebody wanted to be remembered. */
const history: readonly PartName[] = ['done', 'tasks'];

/** An artifact over this is long. */
const short: TextSize = { tokens: 600, characters: 2400 };

function* inOrder(parts: readonly ListedPart[], artifacts: readonly Inlinable[]): Generator<Piece> {
  const queues = parts.map((part) => ({ part, queue: createQueue(part) }));
  for (const { part, queue } of queues) {
    let spent: TextSize = { tokens: 0, characters: 0 };
    for (let step = queue.peek(); step; step = queue.peek()) {
      spent = sum(spent, step.cost);
      if (!fits(spent, part.first)) break;
      yield step;
      queue.drop();
    }
  }
  const long: Inlinable[] = [];
  for (const artifact of artifacts) {
    const step = artifact.characters < short.characters ? artifactPiece(artifact) : undefined;
    if (step && fits(step.cost, short)) yield step;
    else long.push(artifact);
  }
  const isHistory = ({ part }: { part: ListedPart }): boolean => history.includes(part.name);
  const rest = [...queues.filter((each) => !isHistory(each)), ...queues.filter(isHistory)];
  for (const { queue } of rest) {
    for (let step = queue.peek(); step; step = queue.peek()) {
      yield step;
      queue.drop();
    }
  }
  for (const artifact of long) yield artifactPiece(artifact);
}

function artifactPiece(artifact: Inlinable): Piece {
  const text = artifact.text();
  return { part: 'artifacts', text, cost: costOf(text), artifact };
}

function createQueue({ name, items }: ListedPart): { peek(): Piece | undefined; drop(): void } {
  const iterator = items[Symbol.iterator]();
  let head: { step?: Piece } | undefined;
  return {
    peek() {
      if (!head) {
        const { done, value } = iterator.next();
        head = done ? {} : { step: { part: name, text: value, cost: costOf(value) } };
      }
      return head.step;
    },
    drop() {
      head = undefined;
    },
  };
}

function filled(part: ListedPart, steps: readonly Piece[]): FilledPart {
  const own = steps.filter((step) => step.part === part.name);
  const texts = own.filter((step) => step.artifact !== undefined);
  const items = own.filter((step) => step.artifact === undefined);
  const inlined = texts.flatMap(({ artifact }) => (artifact ? [artifact.id] : []));
  const named = part.ids?.slice(0, items.length) ?? [];
  const unnamed = inlined.filter((id) => !named.includes(id));
  const lines = items.filter((_, index) => !inlined.includes(named[index] ?? ''));
  const shown = items.length + unnamed.length;
  const pointers = shown === part.total ? [] : [pointerLine(part, part.total - shown)];
  return {
    part,
    lines: [...lines.map(({ text }) => text), ...pointers, ...texts.map(({ text }) => text)],
    shown,
    cost: sum(...[...lines, ...texts].map(({ cost }) => cost), ...pointers.map(costOf)),
    inlined,
    listed: [...named, ...unnamed],
  };
}

export const pointerLine = ({ ask }: ListedPart, left: number): string => `- ${left} more: section ${ask}`;

/** As much as any number of items left. */
export const pointerCost = (part: ListedPart): TextSize => costOf(pointerLine(part, part.total));
