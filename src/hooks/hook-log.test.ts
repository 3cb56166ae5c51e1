import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { hookLogEntries, type Logged, log } from './hook-log.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'stepfast-log-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const folder = () => join(directory, 'sessions', 'hooks');
const denied = (tool: string): Logged => ({ what: 'denied', run: 'r', session: 's', tool });

test('what hooks did is read back in order; lines that are none are left out', () => {
  expect(hookLogEntries({ directory })).toEqual([]);
  mkdirSync(folder(), { recursive: true });
  log({ directory }, 1, denied('Edit'));
  appendFileSync(join(folder(), 'log.jsonl'), 'torn\n{"now":1}\n{"now":2,"what":"unheard of"}\nnull\n');
  log({ directory }, 3, denied('Bash'));
  expect(hookLogEntries({ directory })).toEqual([
    { now: 1, ...denied('Edit') },
    { now: 3, ...denied('Bash') },
  ]);
});

test('where nothing of Stepfast is nothing is written, and a long log keeps its newer half', () => {
  log({ directory }, 1, denied('Edit'));
  expect(readdirSync(directory)).toEqual([]);
  mkdirSync(folder(), { recursive: true });
  for (let now = 1; now <= 1000; now += 1) log({ directory }, now, denied('x'.repeat(1000)));
  expect(readdirSync(folder()).sort()).toEqual(['log.1.jsonl', 'log.jsonl']);
  const read = hookLogEntries({ directory });
  expect(read.at(-1)?.now).toBe(1000);
  expect(read.length).toBeGreaterThan(200);
  expect(read.length).toBeLessThan(1000);
});
