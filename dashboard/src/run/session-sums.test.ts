import { expect, test } from 'vitest';
import type { SessionLane } from '../api-types.ts';
import { sessionSums } from './session-sums.ts';

const lane = (more: Partial<SessionLane>): SessionLane => ({
  id: 's',
  from: 0,
  to: 100,
  stretches: [],
  work: [],
  waits: [],
  marks: [],
  ...more,
});
const work = (from: number, to: number) => ({ from, to, path: 'p', title: 'P' });

test('time is work, waiting for a person or idle', () => {
  const lanes = [lane({ work: [work(0, 30)], waits: [{ from: 30, to: 70, kind: 'review' }] })];
  expect(sessionSums(lanes, 500)).toEqual({ worked: 30, waited: 40, idle: 30 });
});

test('a wait inside of work is no work', () => {
  const lanes = [lane({ work: [work(0, 100)], waits: [{ from: 20, to: 60, kind: 'question' }] })];
  expect(sessionSums(lanes, 500)).toEqual({ worked: 60, waited: 40, idle: 0 });
});

test('while one session works, the wait of another does not count, and no moment counts twice', () => {
  const lanes = [
    lane({ work: [work(0, 60)] }),
    lane({ work: [work(40, 50)], waits: [{ from: 50, to: 90, kind: 'decision' }] }),
  ];
  expect(sessionSums(lanes, 500)).toEqual({ worked: 60, waited: 30, idle: 10 });
});

test('what is open lasts until now', () => {
  const { to: _, ...open } = lane({ work: [work(0, 10)], waits: [{ from: 10, kind: 'review' }] });
  expect(sessionSums([open], 50)).toEqual({ worked: 10, waited: 40, idle: 0 });
});

test('a run without sessions used no time', () => {
  expect(sessionSums([], 50)).toEqual({ worked: 0, waited: 0, idle: 0 });
});
