import type { Inlinable } from './artifacts-part.ts';
import { type ListedPart, partInfo } from './briefing-part.ts';
import { firstShare } from './budget-bounds.ts';
import { costOf, fits, sum, type TextSize } from './text-size.ts';

export interface FilledPart {
  part: ListedPart;
  lines: string[];
  shown: number;
  cost: TextSize;
  /** Ids of the artifacts whose text is shown. */
  inlined: string[];
  /** Ids of the artifacts shown as a line or as text. */
  listed: string[];
}

interface Piece {
  part: ListedPart['name'];
  text: string;
  cost: TextSize;
  /** Set if the piece is an artifact's text. */
  artifact?: Inlinable;
}

/**
 * Splits the budget over the parts. The order of pieces does not depend on the budget, and a budget shows a prefix of
 * it, so a larger budget never shows less: first each part up to its share, then short artifacts, then the rest of each
 * part, then long artifacts. The first piece that does not fit ends the list. A part that is not shown in full also
 * pays for its pointer.
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
  for (const piece of piecesInOrder(parts, artifacts)) {
    spent = sum(spent, piece.cost);
    if (!fits(spent, room)) break;
    taken.push(piece);
    if (piece.artifact === undefined) shown.set(piece.part, (shown.get(piece.part) ?? 0) + 1);
    const pointers = parts.filter(({ name, total }) => (shown.get(name) ?? 0) < total).map(pointerCost);
    if (fits(sum(spent, ...pointers), room)) best = taken.length;
  }
  return parts.map((part) => filled(part, taken.slice(0, best)));
}

/** These grow with the run, so beyond their share they come after what was recorded deliberately. */
const history: readonly ListedPart['name'][] = ['done', 'tasks'];

/** An artifact above this size is long. */
const maxShortArtifact: TextSize = { tokens: 600, characters: 2400 };

function* piecesInOrder(parts: readonly ListedPart[], artifacts: readonly Inlinable[]): Generator<Piece> {
  const queues = parts.map((part) => ({ part, queue: createQueue(part) }));
  for (const { part, queue } of queues) {
    let spent: TextSize = { tokens: 0, characters: 0 };
    for (let piece = queue.peek(); piece; piece = queue.peek()) {
      spent = sum(spent, piece.cost);
      if (!fits(spent, firstShare[part.name])) break;
      yield piece;
      queue.drop();
    }
  }
  const long: Inlinable[] = [];
  for (const artifact of artifacts) {
    const piece = artifact.characters < maxShortArtifact.characters ? artifactPiece(artifact) : undefined;
    if (piece && fits(piece.cost, maxShortArtifact)) yield piece;
    else long.push(artifact);
  }
  const isHistory = ({ part }: { part: ListedPart }): boolean => history.includes(part.name);
  const rest = [...queues.filter((each) => !isHistory(each)), ...queues.filter(isHistory)];
  for (const { queue } of rest) {
    for (let piece = queue.peek(); piece; piece = queue.peek()) {
      yield piece;
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
  let head: { piece?: Piece } | undefined;
  return {
    peek() {
      if (!head) {
        const { done, value } = iterator.next();
        head = done ? {} : { piece: { part: name, text: value, cost: costOf(value) } };
      }
      return head.piece;
    },
    drop() {
      head = undefined;
    },
  };
}

function filled(part: ListedPart, pieces: readonly Piece[]): FilledPart {
  const own = pieces.filter((piece) => piece.part === part.name);
  const texts = own.filter((piece) => piece.artifact !== undefined);
  const items = own.filter((piece) => piece.artifact === undefined);
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

export const pointerLine = ({ name }: ListedPart, left: number): string =>
  `- ${left} more: section ${partInfo[name].ask}`;

/** An upper bound for any number of remaining items. */
export const pointerCost = (part: ListedPart): TextSize => costOf(pointerLine(part, part.total));
