import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createPendingCalls, type PendingCalls } from './pending-calls.ts';

let directory: string;
let callers: PendingCalls;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'stepfast-callers-'));
  callers = createPendingCalls(directory);
});
afterEach(() => rmSync(directory, { recursive: true }));

const now = Date.now();
const files = (): string[] => readdirSync(join(directory, 'callers'));

test('[P4/8] what a hook told of a call is taken once, and copies of the hook tell the same', () => {
  callers.record('toolu_1', { host: 'h', session: 's', agent: 'a' }, now);
  callers.record('toolu_1', { host: 'h', session: 's', agent: 'a' }, now);
  callers.record('../../toolu_2', { host: 'h', session: 's' }, now);
  expect(callers.take('toolu_1')).toEqual({ host: 'h', session: 's', agent: 'a' });
  expect(callers.take('toolu_1')).toBeUndefined();
  expect(callers.take('../../toolu_2')).toEqual({ host: 'h', session: 's' });
  expect(files()).toEqual([]);
});

test('a damaged record names no caller', () => {
  callers.record('toolu_1', { host: 'h', session: 's' }, now);
  for (const text of ['', 'null', '{"host":"h"}', '{"host":"h","session":""}']) {
    writeFileSync(join(directory, 'callers', files()[0] ?? 'x'), text);
    expect(callers.take('toolu_1')).toBeUndefined();
    callers.record('toolu_1', { host: 'h', session: 's' }, now);
  }
});

test('calls that were denied do not pile up', () => {
  for (let count = 0; count < 100; count += 1)
    callers.record(`old-${count}`, { host: 'h', session: 's' }, now);
  const yesterday = new Date(now - 25 * 3_600_000);
  for (const file of files()) utimesSync(join(directory, 'callers', file), yesterday, yesterday);
  callers.record('new', { host: 'h', session: 's' }, now);
  expect(files()).toHaveLength(1);
  expect(callers.take('new')).toBeDefined();
});
