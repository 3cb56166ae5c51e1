import { expect, test } from 'vitest';
import type { SessionLane } from '../api-types.ts';
import { inSight, scaleOf, ticksOf } from './timeline-scale.ts';

const hour = 3_600_000;

const lane = (...work: [number, number][]): SessionLane => ({
  id: 's',
  from: 0,
  stretches: [{ from: 0, to: 20 * hour, opened: 'start' }],
  work: work.map(([from, to]) => ({ from, to, path: 'p', title: 'P' })),
  waits: [],
  marks: [],
});

test('idle time of an open session becomes a narrow column', () => {
  const { pieces, x } = scaleOf([lane([0, hour], [19 * hour, 20 * hour])], true, 20 * hour);
  expect(pieces.map(({ isIdle }) => isIdle)).toEqual([false, true, false]);
  expect(pieces.reduce((sum, { width }) => sum + width, 0)).toBeCloseTo(100);
  expect(x(hour)).toBeCloseTo(47.5);
  expect(x(19 * hour)).toBeCloseTo(52.5);
});

test('nothing is skipped if idle time is shown', () => {
  const scale = scaleOf([lane([0, hour], [19 * hour, 20 * hour])], false, 20 * hour);
  expect(scale.pieces).toHaveLength(1);
  expect(scale.x(10 * hour)).toBeCloseTo(50);
  expect(ticksOf(scale).length).toBeLessThanOrEqual(10);
});

test('a run without sessions has no scale', () => {
  const scale = scaleOf([], true, 20 * hour);
  expect(scale.pieces).toEqual([]);
  expect(scale.x(5)).toBe(0);
});

test('an open wait reaches until now, and its middle is skipped', () => {
  const waiting = { ...lane([0, hour]), waits: [{ from: hour, kind: 'review' as const }] };
  const { pieces, x } = scaleOf([waiting], true, 12 * hour);
  expect(pieces.map(({ isIdle }) => isIdle)).toEqual([false, true, false]);
  expect(x(12 * hour)).toBeCloseTo(100);
});

test('of a thousand pieces only those that can be told apart are drawn, and a long one always is', () => {
  const scale = { pieces: [], x: (time: number) => time / 1000 };
  const tiny = Array.from({ length: 1000 }, (_, index) => ({ from: index * 10, to: index * 10 + 10 }));
  const long = { from: 10_000, to: 90_000 };
  const drawn = inSight([...tiny, long], scale);
  expect(drawn.length).toBeLessThan(100);
  expect(drawn).toContain(tiny[0]);
  expect(drawn).toContain(long);
});
