import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Binding, fileOf } from './binding.ts';
import { createBindings } from './binding-files.ts';

const day = 24 * 3_600_000;
const now = 100 * day;
const one: Binding = {
  host: 'h',
  session: 'one',
  run: 'r-1-a',
  at: 'a:plan#1',
  cwd: '{project_root}',
  pid: 7,
  boot: 'here',
  boundAt: now,
  seenAt: now,
};
let root: string;
let directory: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'stepfast-bindings-'));
  directory = join(root, '.stepfast');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));
const files = (): string[] =>
  readdirSync(join(directory, 'sessions')).filter((name) => name !== '.gitignore');

test('a binding is kept for host, session and agent, and read by another process', async () => {
  const { agent: _, ...plain } = { ...one, agent: '' };
  const all = [plain, { ...one, agent: 'a1' }, { ...one, host: 'x' }, { ...one, session: 'two' }];
  for (const binding of all) await createBindings(directory).put(binding);
  const bindings = createBindings(directory);
  for (const binding of all) expect(await bindings.get(binding)).toEqual(binding);
  expect(await bindings.list()).toHaveLength(4);
  await bindings.drop(one);
  expect(await bindings.get(one)).toBeUndefined();
  expect(await bindings.get({ ...one, agent: 'a1' })).toBeDefined();
});

test('nothing that a host or an agent wrote becomes part of a path', async () => {
  const evil = { ...one, host: '../../h', session: '../../../x\u0000/y', agent: '/etc/passwd' };
  const bindings = createBindings(directory);
  await bindings.put(evil);
  expect(await bindings.get(evil)).toEqual(evil);
  expect(files()).toEqual([expect.stringMatching(/^[0-9a-f]{32}\.json$/)]);
  // The parts of a key are not glued together.
  expect(fileOf({ host: 'a', session: 'b/c' })).not.toBe(fileOf({ host: 'a/b', session: 'c' }));
});

test.each([
  ['torn', '{"v":1,"host":"h","sess'],
  ['empty', ''],
  ['a list', '[]'],
  ['null', 'null'],
  ['of a later version', JSON.stringify({ v: 2, ...one })],
  ['without a run', JSON.stringify({ v: 1, ...one, run: undefined })],
  ['with a time that is none', JSON.stringify({ v: 1, ...one, seenAt: 'now' })],
  ['of another session', JSON.stringify({ v: 1, ...one, session: 'two' })],
  ['huge', JSON.stringify({ v: 1, ...one, junk: 'x'.repeat(100_000) })],
])('a file that is %s counts as none, and is written anew', async (_, text) => {
  mkdirSync(join(directory, 'sessions'), { recursive: true });
  writeFileSync(join(directory, 'sessions', fileOf(one)), text);
  const bindings = createBindings(directory);
  expect(await bindings.get(one)).toBeUndefined();
  await bindings.put(one);
  expect(await bindings.get(one)).toEqual(one);
});

test('where there is no folder, or a file in its place, there are no bindings', async () => {
  expect(await createBindings(directory).list()).toEqual([]);
  mkdirSync(directory);
  writeFileSync(join(directory, 'sessions'), 'x');
  const bindings = createBindings(directory);
  expect(await bindings.list()).toEqual([]);
  expect(await bindings.get(one)).toBeUndefined();
});

test('[P4/11] a sweep takes what is bound to no live run, long unseen, broken or left by a crash', async () => {
  const bindings = createBindings(directory);
  const live = { ...one, seenAt: now - 30 * day };
  await bindings.put(live);
  await bindings.put({ ...one, session: 'unseen', seenAt: now - 31 * day });
  await bindings.put({ ...one, session: 'ended', run: 'r-2-b' });
  const folder = join(directory, 'sessions');
  writeFileSync(join(folder, `${'0'.repeat(32)}.json`), 'junk');
  writeFileSync(join(folder, `${'0'.repeat(32)}.json.abc.tmp`), 'junk');
  writeFileSync(join(folder, 'mine.txt'), 'not ours');
  await bindings.sweep(new Set(['r-1-a']), now);
  expect(files().sort()).toEqual([fileOf(live), 'mine.txt'].sort());
});

test('a sweep keeps a bounded number, those seen last', async () => {
  const bindings = createBindings(directory);
  for (let index = 0; index < 510; index += 1)
    await bindings.put({ ...one, session: `s${index}`, seenAt: now + index });
  await bindings.sweep(new Set(['r-1-a']), now);
  expect(files()).toHaveLength(500);
  expect(await bindings.get({ host: 'h', session: 's9' })).toBeUndefined();
  expect(await bindings.get({ host: 'h', session: 's10' })).toBeDefined();
});

test('git ignores bindings, also where a .gitignore of before does not name them, which stays as it is', async () => {
  execFileSync('git', ['init', '-q'], { cwd: root });
  mkdirSync(directory);
  writeFileSync(join(directory, '.gitignore'), 'runs/\n# mine\n');
  await createBindings(directory).put(one);
  expect(readFileSync(join(directory, '.gitignore'), 'utf8')).toBe('runs/\n# mine\n');
  const status = execFileSync('git', ['status', '--porcelain', '-uall'], { cwd: root, encoding: 'utf8' });
  expect(status).toBe('?? .stepfast/.gitignore\n');
  expect(existsSync(join(directory, 'sessions', fileOf(one)))).toBe(true);
});
