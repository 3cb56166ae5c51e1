import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { git, gitEnvironment } from '../evidence/index.ts';
import { readTasks } from './read-tasks.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'stepfast-tasks-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const write = (path: string, text = ''): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
};
const read = async (source: Parameters<typeof readTasks>[0]) => await readTasks(source, root, process.env);
const titles = async (source: Parameters<typeof readTasks>[0]) =>
  (await read(source)).tasks?.map(({ title }) => title);

test.each([true, false])(
  '[L/tasks] files of a glob, in order, without what is ignored (git: %s)',
  async (inGit) => {
    for (const path of ['src/b.ts', 'src/a.ts', 'src/deep/c.ts', 'src/a.js', 'node_modules/x/src/d.ts'])
      write(path);
    write('.gitignore', 'node_modules/\n');
    if (inGit) await git(['init', '-q'], { cwd: root, env: gitEnvironment(process.env) });
    expect(await titles({ files: 'src/*.ts' })).toEqual(['src/a.ts', 'src/b.ts']);
    expect(await titles({ files: '**/*.ts' })).toEqual(['src/a.ts', 'src/b.ts', 'src/deep/c.ts']);
    expect(await titles({ files: 'nothing/*' })).toEqual([]);
  },
);

test('[L/tasks] ids are a slug and a part of a hash: the same for the same text, different for a similar one', async () => {
  write('t.json', '["Fix the parser!", "fix the parser", "Ünï"]');
  const ids = (await read({ json: 't.json' })).tasks?.map(({ id }) => id) ?? [];
  expect(ids).toEqual((await read({ json: 't.json' })).tasks?.map(({ id }) => id));
  expect(ids[0]).toMatch(/^fix-the-parser-[0-9a-f]{8}$/);
  expect(new Set(ids).size).toBe(3);
  expect(ids.every((id) => /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(id))).toBe(true);
});

test('[L/tasks] open items of a checklist', async () => {
  write('plan.md', '# Plan\r\n- [ ] One\r\n- [x] Done\n* [ ] Two\n  1. [ ] Three\n- no box\n');
  expect(await titles({ checklist: 'plan.md' })).toEqual(['One', 'Two', 'Three']);
});

test('[L/tasks] a JSON file has titles, or tasks with what belongs to them', async () => {
  write('t.json', '[{"title":"A","id":"a"},{"title":"B","description":"Why","depends_on":["a"]}]');
  expect((await read({ json: 't.json' })).tasks).toMatchObject([
    { id: 'a', title: 'A' },
    { title: 'B', description: 'Why', depends_on: ['a'] },
  ]);
});

test.each([
  ['no file', {}, { json: 'x.json' }],
  ['not JSON', { 'x.json': '[' }, { json: 'x.json' }],
  ['no list', { 'x.json': '{}' }, { json: 'x.json' }],
  ['a task without a title', { 'x.json': '[{}]' }, { json: 'x.json' }],
  ['binary', { 'x.md': 'a\0b' }, { checklist: 'x.md' }],
  ['outside', {}, { json: '../x.json' }],
])('[L/tasks] %s is a problem for a person', async (_, files, source) => {
  for (const [path, text] of Object.entries(files)) write(path, text);
  expect(await read(source)).toEqual({ problem: expect.any(String) });
});

test('[L/tasks] no link leads out of the worktree', async () => {
  const outside = mkdtempSync(join(tmpdir(), 'stepfast-outside-'));
  writeFileSync(join(outside, 'x.json'), '["Secret"]');
  symlinkSync(join(outside, 'x.json'), join(root, 'x.json'));
  expect(await read({ json: 'x.json' })).toHaveProperty('problem');
  rmSync(outside, { recursive: true, force: true });
});
