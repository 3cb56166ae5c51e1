import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { inspectStaged, pluginLink, stage, unstage } from './copy-plugin.ts';

let folder: string;
let root: string;
let state: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stepfast-stage-'));
  root = join(folder, 'package');
  state = join(folder, 'state');
  release('1.0.0');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function release(version: string, more: Record<string, string> = {}): void {
  const files: Record<string, string> = {
    'package.json': JSON.stringify({ name: 'stepfast', version, files: ['dist', 'hooks', '.claude-plugin'] }),
    '.claude-plugin/plugin.json': '{}',
    'hooks/hooks.json': '{}',
    'dist/hook.cjs': version,
    'dist/cli.js': version,
    'dist/index.d.ts': 'types',
    'src/index.ts': 'sources',
    ...more,
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
}

const link = (): string => pluginLink(state);
const versions = (): string[] => readdirSync(dirname(link())).filter((name) => name !== 'current');

test('published files are copied behind a link with a stable path', () => {
  expect(inspectStaged(state, root).current).toBe(false);
  expect(existsSync(state)).toBe(false);
  expect(stage(state, root)).toMatchObject({ plugin: link(), version: '1.0.0' });
  expect(lstatSync(link()).isSymbolicLink()).toBe(true);
  expect(readdirSync(link()).sort()).toEqual(['.claude-plugin', 'dist', 'hooks', 'package.json']);
  expect(readdirSync(join(link(), 'dist')).sort()).toEqual(['cli.js', 'hook.cjs']);
  expect(inspectStaged(state, root).current).toBe(true);
});

/** Makes the files an hour old. */
function age(): void {
  const then = Date.now() / 1000 - 3600;
  for (const name of versions()) utimesSync(join(dirname(link()), name), then, then);
}

test('a new version replaces the old one atomically, and the old folder stays until the next', () => {
  stage(state, root);
  release('1.1.0');
  expect(inspectStaged(state, root).current).toBe(false);
  stage(state, root);
  expect(readFileSync(join(link(), 'dist', 'cli.js'), 'utf8')).toBe('1.1.0');
  expect(versions()).toHaveLength(2);
  age();
  release('1.2.0');
  stage(state, root);
  expect(
    versions()
      .map((name) => name.split('-')[0])
      .sort(),
  ).toEqual(['1.1.0', '1.2.0']);
});

test('recent copies of other processes stay, and old leftovers are removed', () => {
  stage(state, root);
  mkdirSync(join(dirname(link()), '.copying-0123456789ab'));
  for (const version of ['1.1.0', '1.2.0']) {
    release(version);
    stage(state, root);
  }
  expect(versions()).toHaveLength(4);
  age();
  release('1.3.0');
  stage(state, root);
  expect(
    versions()
      .map((name) => name.split('-')[0])
      .sort(),
  ).toEqual(['1.2.0', '1.3.0']);
});

test('a reused copy counts as recent', () => {
  for (const version of ['1.0.0', '1.1.0']) {
    release(version);
    stage(state, root);
  }
  age();
  for (const version of ['1.0.0', '1.2.0', '1.3.0']) {
    release(version);
    stage(state, root);
  }
  expect(versions().some((name) => name.startsWith('1.0.0-'))).toBe(true);
  expect(versions().some((name) => name.startsWith('1.1.0-'))).toBe(false);
});

test.each(['dist/hook.cjs', 'hooks', 'all'])('where %s was deleted, it is copied anew', (name) => {
  stage(state, root);
  const [copied = ''] = versions();
  rmSync(join(dirname(link()), copied, name === 'all' ? '' : name), { recursive: true });
  expect(inspectStaged(state, root).current).toBe(false);
  stage(state, root);
  expect(inspectStaged(state, root).current).toBe(true);
  expect(readFileSync(join(link(), 'dist', 'hook.cjs'), 'utf8')).toBe('1.0.0');
  expect(readdirSync(join(link(), 'hooks'))).toEqual(['hooks.json']);
  expect(versions()).toEqual([copied]);
});

test('a modified file in the copy is copied again', () => {
  stage(state, root);
  writeFileSync(join(link(), 'dist', 'hook.cjs'), 'damaged');
  stage(state, root);
  expect(readFileSync(join(link(), 'dist', 'hook.cjs'), 'utf8')).toBe('1.0.0');
});

test('a broken link is fixed', () => {
  mkdirSync(dirname(link()), { recursive: true });
  symlinkSync('0.9.0-0123456789ab', link());
  stage(state, root);
  expect(readFileSync(join(link(), 'dist', 'hook.cjs'), 'utf8')).toBe('1.0.0');
});

test('the same version with different files counts as another version', () => {
  stage(state, root);
  release('1.0.0', { 'dist/hook.cjs': 'fixed' });
  stage(state, root);
  expect(readFileSync(join(link(), 'dist', 'hook.cjs'), 'utf8')).toBe('fixed');
});

test('a checkout that was never built is an error, and nothing is copied', () => {
  rmSync(join(root, 'dist'), { recursive: true });
  expect(() => stage(state, root)).toThrow(/npm run build/);
  expect(existsSync(state)).toBe(false);
});

test('unstage removes everything', () => {
  stage(state, root);
  unstage(state);
  expect(existsSync(dirname(link()))).toBe(false);
  expect(() => unstage(state)).not.toThrow();
});
