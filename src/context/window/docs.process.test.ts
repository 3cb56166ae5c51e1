import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { main as loopWithGates } from '../../../examples/agent-loop-with-gates.ts';
import { main as transitions } from '../../../examples/transitions.ts';
import { measure, type WindowFigures } from '../../../lab/bench/window.ts';
import * as main from '../../index.ts';
import * as runtime from '../../runtime/library.ts';
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

test.each([
  ['examples/agent-loop.ts', 'loop'],
  ['examples/transitions.ts', 'transitions'],
  ['examples/agent-loop-with-gates.ts', 'gates'],
  ['examples/service.ts', 'service'],
])('the code of %s is on the page', (file, name) => {
  const [, margin = '', region = ''] =
    new RegExp(`^( *)// #region ${name}\\n(.*?) *// #endregion`, 'ms').exec(read(file)) ?? [];
  const code = region.replaceAll(new RegExp(`^${margin}`, 'gm'), '');
  expect(code.length).toBeGreaterThan(500);
  expect(page).toContain(code);
});

test('[003/3] M17: the window follows the transitions of a machine: the example asserts each', async () => {
  const { machine, window } = await transitions();
  expect(machine.getState().status).toBe('complete');
  expect(window.pins().get('BUDGET_PIVOT_FEEDBACK')).toBe('Stream the rows.');
});

test('[A16] an own loop with gates ends: the example asserts each turn', async () => {
  const { machine, turns } = await loopWithGates();
  expect(machine.getState().status).toBe('complete');
  expect(turns).toHaveLength(7);
});

test('M17: the snippet about the next action runs as printed', async () => {
  const code = /^## The next action of a run.*?```ts\n(.*?)```/ms.exec(page)?.[1] ?? '';
  const { machine } = await transitions();
  const given = { machine, nextForTools: main.nextForTools, nextForPerson: main.nextForPerson };
  const run = new Function(...Object.keys(given), `${code.replace(/^import .*\n/m, '')} return action;`);
  expect(run(...Object.values(given))).toEqual(machine.getStatus().action);
});

test('M17: pin writes what seed 003 prints, trimmed and, where it is asked for, cut', () => {
  const window = createContextWindow({ systemPrompt: 'Story' });
  window.pin('BUDGET_PIVOT_FEEDBACK', '  Stream the rows.\n');
  expect(window.systemPrompt().content).toBe('Story\n\n**[BUDGET_PIVOT_FEEDBACK]:** "Stream the rows."');
  window.pin('BUDGET_PIVOT_FEEDBACK', `${'x'.repeat(700)} `, { most: 600 });
  expect(window.pins().get('BUDGET_PIVOT_FEEDBACK')).toBe(`${'x'.repeat(597)}...`);
});

test('M17: every import on the page is exported, and nothing else is called', () => {
  const blocks = [...page.matchAll(/^```ts\n(.*?)^```/gms)].map(([, code = '']) => code);
  expect(blocks.length).toBeGreaterThan(3);
  const known = { 'stepfast/context': library, 'stepfast/runtime': runtime, stepfast: main } as Record<
    string,
    object
  >;
  for (const code of blocks)
    for (const [, names = '', from = ''] of code.matchAll(/import \{ ([^}]+) \} from '(stepfast[^']*)'/g))
      for (const name of names.split(', ')) expect(known[from], `${name} of ${from}`).toHaveProperty(name);
  expect(page).not.toContain('render(');
});

test('M17: the loop without the AI SDK runs as printed, with a model as its only helper', async () => {
  const code = (/^Without the AI SDK.*?```ts\n(.*?)```/ms.exec(page)?.[1] ?? '').replace(/^import .*\n/m, '');
  const given = {
    createContextWindow,
    callModel: async (messages: { content: unknown }[]) => `${messages[0]?.content}: ${messages[1]?.content}`,
  };
  const run = new Function(...Object.keys(given), `return (async () => { ${code} return window; })();`);
  const window: library.ContextWindow = await run(...Object.values(given));
  expect(window.conversation().at(-1)?.content).toBe(
    'You are a careful programmer.: Which file writes the report?',
  );
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
