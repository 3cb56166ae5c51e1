import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { spending } from './spending.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stepfast-spending-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const at = (seconds: number): string => new Date(1_000_000_000_000 + seconds * 1000).toISOString();
const since = (seconds: number): number => Date.parse(at(seconds));
const user = (seconds: number, promptId: string) => ({ type: 'user', timestamp: at(seconds), promptId });
const assistant = (seconds: number, id: string, usage: object, model = 'claude') => ({
  type: 'assistant',
  timestamp: at(seconds),
  message: { id, model, usage },
});
const transcript = (...records: object[]): string => {
  const file = join(folder, 's.jsonl');
  writeFileSync(file, `${records.map((record) => JSON.stringify(record)).join('\n')}\n{"cut`);
  return file;
};
const usage = {
  input_tokens: 10,
  cache_creation_input_tokens: 5,
  cache_read_input_tokens: 1000,
  output_tokens: 2,
};

test('each message counts once, with what was written to the cache and not what was read from it', async () => {
  const file = transcript(
    user(0, 'p1'),
    assistant(10, 'm1', usage),
    assistant(11, 'm1', usage),
    assistant(20, 'm2', usage),
    assistant(21, 'm3', usage, '<synthetic>'),
  );
  expect(await spending(file, since(0))).toEqual({ turns: 1, tokens: 34, activeMs: 21_000 });
});

test('only what came after the time counts, and the turn in which it lies', async () => {
  const file = transcript(
    user(0, 'p1'),
    assistant(10, 'm1', usage),
    user(20, 'p2'),
    assistant(30, 'm2', usage),
    user(40, 'p3'),
    assistant(50, 'm3', usage),
  );
  expect(await spending(file, since(25))).toEqual({ turns: 2, tokens: 34, activeMs: 25_000 });
});

test('a pause of more than five minutes is no active time', async () => {
  const file = transcript(
    user(0, 'p1'),
    assistant(300, 'm1', usage),
    user(601, 'p2'),
    assistant(602, 'm2', usage),
  );
  expect((await spending(file, since(0))).activeMs).toBe(301_000);
});

test('subagents count', async () => {
  const file = transcript(user(0, 'p1'), assistant(10, 'm1', usage));
  mkdirSync(join(folder, 's', 'subagents'), { recursive: true });
  const sub = [assistant(-5, 'a0', usage), assistant(5, 'a1', usage)];
  writeFileSync(
    join(folder, 's', 'subagents', 'agent-1.jsonl'),
    sub.map((record) => JSON.stringify(record)).join('\n'),
  );
  expect((await spending(file, since(0))).tokens).toBe(34);
});

test('a transcript that does not exist yet has nothing', async () => {
  expect(await spending(join(folder, 'none.jsonl'), 0)).toEqual({ turns: 0, tokens: 0, activeMs: 0 });
});
