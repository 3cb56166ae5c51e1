import type { SessionLane } from '../api-types.ts';

export interface Piece {
  from: number;
  to: number;
  isIdle: boolean;
  /** In percent of the width. */
  x: number;
  width: number;
}

export interface Scale {
  pieces: Piece[];
  x(time: number): number;
}

const minute = 60_000;
const idleWidth = 5;
const leastIdle = 20 * minute;

/** An open session is idle between its work, so its stretches count only if they are all that is known. */
function usedBy({ stretches, work, waits, marks }: SessionLane, now: number): { from: number; to: number }[] {
  if (work.length === 0) return stretches;
  const points = [
    ...marks.map((mark) => mark.now),
    ...stretches.map(({ from }) => from),
    // The middle of a long wait is skipped like idle time.
    ...waits.flatMap(({ from, to = now }) => [from, Math.max(from, to - minute)]),
  ];
  return [...work, ...points.map((from) => ({ from, to: from + minute }))];
}

/** Time that a session used is to scale; each idle stretch becomes a narrow column if `skipIdle`. */
export function scaleOf(lanes: readonly SessionLane[], skipIdle: boolean, now: number): Scale {
  const used = lanes.flatMap((lane) => usedBy(lane, now)).sort((a, b) => a.from - b.from);
  const parts = partsOf(used, skipIdle);
  const idleCount = parts.filter(({ isIdle }) => isIdle).length;
  const column = Math.min(idleWidth, 40 / Math.max(1, idleCount));
  const active = parts.reduce((sum, { from, to, isIdle }) => sum + (isIdle ? 0 : to - from), 0) || 1;
  const room = 100 - idleCount * column;
  let x = 0;
  const pieces = parts.map((part): Piece => {
    const width = part.isIdle ? column : ((part.to - part.from) / active) * room;
    const piece = { ...part, x, width };
    x += width;
    return piece;
  });
  return {
    pieces,
    x(time) {
      const piece = pieces.find(({ to }) => time <= to) ?? pieces.at(-1);
      if (!piece) return 0;
      const share = (time - piece.from) / (piece.to - piece.from || 1);
      return piece.x + Math.max(0, Math.min(1, share)) * piece.width;
    },
  };
}

type Part = Pick<Piece, 'from' | 'to' | 'isIdle'>;

function partsOf(used: readonly { from: number; to: number }[], skipIdle: boolean): Part[] {
  const [first] = used;
  if (!first) return [];
  const end = Math.max(...used.map(({ to }) => to));
  const least = Math.max(leastIdle, (end - first.from) * 0.02);
  const parts: Part[] = [{ from: first.from, to: first.to, isIdle: false }];
  for (const { from, to } of used) {
    const last = parts.at(-1);
    if (!last) break;
    if (skipIdle && from - last.to > least)
      parts.push({ from: last.to, to: from, isIdle: true }, { from, to, isIdle: false });
    else last.to = Math.max(last.to, to);
  }
  return parts;
}

/** In percent: what is closer than this to the one before it cannot be told apart. */
const leastGap = 0.15;

/** Of many items in the order of time, those that a screen can show. What ends far from its beginning always is. */
export function inSight<T extends { from: number; to: number }>(items: readonly T[], { x }: Scale): T[] {
  let last = Number.NEGATIVE_INFINITY;
  return items.filter(({ from, to }) => {
    const [left, right] = [x(from), x(to)];
    if (right - last < leastGap) return false;
    last = Math.max(left, right - leastGap);
    return true;
  });
}

const tickSteps = [1, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10_080].map((each) => each * minute);
const maxTicks = 9;

export function ticksOf({ pieces, x }: Scale): number[] {
  const active = pieces.filter(({ isIdle }) => !isIdle);
  const total = active.reduce((sum, { from, to }) => sum + to - from, 0);
  const step = tickSteps.find((each) => total / each <= maxTicks) ?? total / maxTicks;
  return active.flatMap(({ from, to }) => {
    const times: number[] = [];
    for (let time = Math.ceil(from / step) * step; time < to; time += step) times.push(time);
    return times.filter((time) => x(time) < 97.5);
  });
}
