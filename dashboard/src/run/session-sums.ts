import type { SessionLane } from '../api-types.ts';

export interface SessionSums {
  worked: number;
  waited: number;
  idle: number;
}

interface Span {
  from: number;
  to: number;
}

/**
 * What the time from the first session to the end of the last one was used for, in milliseconds. A moment counts once:
 * as work if any session worked, else as waiting if any waited for a person, else as idle.
 */
export function sessionSums(lanes: readonly SessionLane[], now: number): SessionSums {
  const waits = lanes.map((lane) => lane.waits.map(({ from, to = now }) => ({ from, to })));
  // A position stays open while it waits, so the waits of a session are no work of it.
  const work = lanes.flatMap((lane, index) =>
    lane.work.flatMap((each) => without(each, joined(waits[index] ?? []))),
  );
  const sessions = lanes.map(({ from, to = now }) => ({ from, to: Math.max(from, to) }));
  const [first] = joined(sessions);
  const whole = first ? Math.max(...sessions.map(({ to }) => to)) - first.from : 0;
  const worked = lengthOf(joined(work));
  const busy = lengthOf(joined([...work, ...waits.flat()]));
  return { worked, waited: busy - worked, idle: Math.max(0, whole - busy) };
}

const lengthOf = (spans: readonly Span[]): number => spans.reduce((sum, { from, to }) => sum + to - from, 0);

/** In the order of time and without overlaps. */
function joined(spans: readonly Span[]): Span[] {
  const result: Span[] = [];
  for (const { from, to } of [...spans].sort((a, b) => a.from - b.from)) {
    const last = result.at(-1);
    if (to <= from) continue;
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else result.push({ from, to });
  }
  return result;
}

/** What is left of a span; `gaps` are joined. */
function without({ from, to }: Span, gaps: readonly Span[]): Span[] {
  const result: Span[] = [];
  let at = from;
  for (const gap of gaps) {
    if (gap.from > at) result.push({ from: at, to: Math.min(gap.from, to) });
    at = Math.max(at, gap.to);
    if (at >= to) break;
  }
  if (at < to) result.push({ from: at, to });
  return result.filter((span) => span.to > span.from);
}
