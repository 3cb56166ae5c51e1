import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { measure, type WindowFigures } from '../../../scripts/bench/window.ts';
import * as library from '../library.ts';
import { createContextWindow } from './context-window.ts';

const read = (file: string): string => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');
const page = read('docs/library.md');
const codeIn = (row: string): string[] => [...row.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '');
const rowsAfter = (head: string): string[][] =>
  (page.split(head)[1]?.split('\n\n')[0] ?? '')
    .trim()
    .split('\n')
    .slice(1)
    .map((row) => codeIn(row.split(' | ')[0] ?? ''));

test('the loop on the page is the code of the example', () => {
  const [, region = ''] =
    /\/\/ #region loop\n(.*?) *\/\/ #endregion/s.exec(read('examples/agent-loop.ts')) ?? [];
  const loop = region.replaceAll(/^ {2}/gm, '');
  expect(loop.length).toBeGreaterThan(1000);
  expect(page).toContain(loop);
});

test('the loop without the AI SDK runs as printed', async () => {
  const code = /^Without the AI SDK:\n\n```ts\n(.*?)```/ms.exec(page)?.[1] ?? '';
  const given = {
    createContextWindow,
    render: (template: string, state: string) => `${template} ${state}`,
    template: 'You are in',
    state: 'CODING',
    question: 'Ready?',
    callModel: async (messages: { content: unknown }[]) => `${messages[0]?.content}: ${messages[1]?.content}`,
  };
  const run = new Function(...Object.keys(given), `return (async () => { ${code} return window; })();`);
  const window: library.ContextWindow = await run(...Object.values(given));
  expect(window.conversation().at(-1)?.content).toBe('You are in CODING: Ready?');
});

test('everything that the page imports is exported', () => {
  const [, names = ''] = /import \{ ([^}]+) \} from 'stepfast\/context'/.exec(page) ?? [];
  expect(names.split(', ').length).toBeGreaterThan(1);
  for (const name of names.split(', ')) expect(library).toHaveProperty(name);
});

test('the page lists every method of a window, and no other', () => {
  const listed = rowsAfter('| call | what it does |').flat();
  expect(listed.map((call) => call.replace(/\(.*/, '')).sort()).toEqual(
    Object.keys(createContextWindow({ systemPrompt: '' })).sort(),
  );
});

test('the page lists every problem of a compaction, and no other', () => {
  const source = read('src/context/window/compaction.ts');
  const [, codes = ''] = /code:(.*?);/s.exec(source) ?? [];
  const known = [...codes.matchAll(/'(\w+)'/g)].map((match) => match[1]);
  expect(known.length).toBeGreaterThan(4);
  expect(rowsAfter('| problem | meaning |').flat().sort()).toEqual(known.sort());
});

describe('[003/9] token use before and after', () => {
  let figures: WindowFigures;
  beforeAll(async () => {
    figures = await measure();
  });

  test.each([
    ['the conversation in the prompt and as messages', 'twice'],
    ['window, no compaction', 'window'],
    ['window, sliding', 'sliding'],
    ['window, summarised', 'summarised'],
  ] as const)('%s is what the page says, within a percent of the whole', (name, key) => {
    const row = page.split('\n').find((line) => line.startsWith(`| ${name} |`)) ?? '';
    const [claude, claudeShare, o200k, o200kShare] = row
      .split('|')
      .slice(2, 6)
      .map((cell) => Number(cell.replaceAll(/[,% ]/g, '')));
    for (const [tokens, share, sent] of [
      [claude, claudeShare, figures.claude],
      [o200k, o200kShare, figures.o200k],
    ] as const) {
      expect(Math.abs(sent[key] - (tokens ?? 0)) / sent.twice).toBeLessThan(0.01);
      expect(Math.abs((100 * sent[key]) / sent.twice - (share ?? 0))).toBeLessThan(1);
    }
  });

  test('removing repetition saves half of the tokens, and compactions most of the rest', () => {
    expect(figures.messages).toBeGreaterThanOrEqual(60);
    expect(figures.compactions).toBeGreaterThanOrEqual(2);
    expect(figures.tokensSavedWithoutCompaction).toBeGreaterThan(0.45);
    expect(figures.tokensSaved).toBeGreaterThan(0.85);
    expect(figures.largestRequest).toBeLessThanOrEqual(figures.limit);
  });
});
