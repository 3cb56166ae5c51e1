import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { compileCacheFolder } from './compile-cache.ts';

const uid = process.getuid?.();
let home: string;
let folder: string;
const found = (more: object = {}) => compileCacheFolder({ home: () => home, env: {}, uid, ...more });

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'stepfast-home-'));
  folder = join(home, '.cache', 'stepfast', 'compiled');
  mkdirSync(join(home, '.cache'));
});
afterEach(() => rmSync(home, { recursive: true }));

test('a new compile cache belongs to its user alone', () => {
  rmSync(join(home, '.cache'), { recursive: true });
  expect(found({ uid: (uid ?? 0) + 1 })).toBeUndefined();
  expect(existsSync(join(home, '.cache'))).toBe(false);
  expect(found()).toBe(folder);
  expect(statSync(join(home, '.cache')).mode & 0o777).toBe(0o700);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(found()).toBe(folder);
});

test('the compile cache follows XDG_CACHE_HOME', () => {
  const elsewhere = join(home, 'elsewhere');
  expect(found({ env: { XDG_CACHE_HOME: elsewhere } })).toBe(join(elsewhere, 'stepfast', 'compiled'));
});

test.runIf(uid !== undefined)('a compile cache that another user could fill is not used', () => {
  expect(found({ uid: (uid ?? 0) + 1 })).toBeUndefined();
  found();
  for (const path of [folder, dirname(folder), join(home, '.cache')]) {
    for (const mode of [0o777, 0o770, 0o702]) {
      chmodSync(path, mode);
      expect(found(), `${path} ${mode.toString(8)}`).toBeUndefined();
    }
    chmodSync(path, 0o755);
  }
  const elsewhere = join(home, 'shared', 'cache');
  mkdirSync(elsewhere, { recursive: true });
  for (const [mode, isSafe] of [
    [0o777, false],
    [0o1777, true],
  ] as const) {
    chmodSync(dirname(elsewhere), mode);
    expect(found({ env: { XDG_CACHE_HOME: elsewhere } }) !== undefined, mode.toString(8)).toBe(isSafe);
  }
  expect(found()).toBe(folder);
  rmSync(folder, { recursive: true });
  mkdirSync(join(home, 'planted'), { mode: 0o700 });
  symlinkSync(join(home, 'planted'), folder);
  expect(found()).toBeUndefined();
});

test('a compile cache is never in the folder that Stepfast runs in', () => {
  expect(found({ home: () => '' })).toBeUndefined();
  expect(found({ env: { XDG_CACHE_HOME: '.cache' } })).toBeUndefined();
});

test('a compile cache that cannot be created is not used', () => {
  expect(found({ home: () => join(home, 'nowhere') })).toBeUndefined();
  const noAccount = () => {
    throw new Error('no account');
  };
  expect(found({ home: noAccount })).toBeUndefined();
  mkdirSync(join(home, '.cache', 'stepfast'));
  symlinkSync(join(home, 'nowhere'), folder);
  expect(found()).toBeUndefined();
});
