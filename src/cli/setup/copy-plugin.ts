import { createHash, randomBytes } from 'node:crypto';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StepfastError } from '../../errors.ts';

export interface Staged {
  /** A stable path, whichever version it points to. */
  plugin: string;
  version: string;
  /** Whether the staged files already match this package. */
  current: boolean;
}

/** Where hosts find the plugin, in the user's state directory. */
export const pluginLink = (state: string): string => join(state, 'plugin', 'current');

/**
 * Copies the published files for hosts to load, because the package itself may be in a cache that is cleared. Each
 * version has its own folder, and a link is switched atomically to the newest. Hooks follow the link, also in running
 * sessions; the previous folder stays for files that these have already loaded. Idempotent.
 */
export function stage(state: string, root: string = packageRoot()): Staged {
  return staged(state, root, true);
}

/** Like `stage`, without copying. */
export const inspectStaged = (state: string, root: string = packageRoot()): Staged =>
  staged(state, root, false);

function staged(state: string, root: string, copies: boolean): Staged {
  const { version, files } = manifestOf(root);
  const named = new Set(['package.json', 'LICENSE', '.claude-plugin', 'skills', ...files]);
  const names = [...named].filter((name) => existsSync(join(root, name)));
  const missing = ['.claude-plugin/plugin.json', 'hooks/hooks.json', 'dist/hook.cjs', 'dist/cli.js'].find(
    (name) => !existsSync(join(root, name)),
  );
  if (missing !== undefined)
    throw new StepfastError(
      'no_plugin',
      `${join(root, missing)} is missing: in a checkout, run npm run build.`,
    );
  const link = pluginLink(state);
  const folder = dirname(link);
  const digest = digestOf(root, names);
  const name = `${version}-${digest}`;
  const target = join(folder, name);
  const before = linkedTo(link);
  const isComplete = (): boolean => digestOf(target, names) === digest;
  const current = before === name && isComplete();
  if (!current && copies) {
    mkdirSync(folder, { recursive: true });
    // A concurrent `stage` may remove the folder.
    for (let left = 3; left > 0; left--) {
      if (isComplete()) touch(target);
      else copy(root, names, target);
      pointTo(link, name);
      if (existsSync(target)) break;
    }
    removeOld(folder, [name, before]);
  }
  return { plugin: link, version, current };
}

/** Removes old versions and leftovers of killed processes, but not recent ones, which may be in use. */
function removeOld(folder: string, keep: readonly (string | undefined)[]): void {
  for (const old of readdirSync(folder)) {
    if (keep.includes(old) || !/^(\d.*-[0-9a-f]{12}|\.copying-.*|current-[0-9a-f]{12})$/.test(old)) continue;
    const path = join(folder, old);
    const age =
      Date.now() - (lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY);
    if (age > recentMs) rmSync(path, { recursive: true, force: true });
  }
}

const recentMs = 10 * 60_000;

/** A reused copy counts as recent. */
function touch(target: string): void {
  try {
    utimesSync(target, new Date(), new Date());
  } catch {
    // Removed concurrently; the caller retries.
  }
}

/** Removes all copies. Idempotent. */
export function unstage(state: string): void {
  const folder = dirname(pluginLink(state));
  rmSync(pluginLink(state), { force: true });
  rmSync(folder, { recursive: true, force: true });
}

/** The root of the package, both from source and from the bundle. */
export function packageRoot(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json')) && manifestOf(folder).name === 'stepfast') return folder;
    if (folder === dirname(folder))
      throw new StepfastError('no_plugin', 'The Stepfast package was not found.');
  }
}

function manifestOf(root: string): { name?: string; version: string; files: string[] } {
  const {
    name,
    version = '0.0.0',
    files = [],
  } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return { name, version, files };
}

/** Copies atomically: to a temporary folder, then renamed. Replaces an incomplete target. */
function copy(root: string, names: readonly string[], target: string): void {
  const temporary = join(dirname(target), `.copying-${randomBytes(6).toString('hex')}`);
  const replaced = `${temporary}-old`;
  try {
    mkdirSync(temporary);
    for (const name of names)
      cpSync(join(root, name), join(temporary, name), { recursive: true, filter: isCopied });
    if (existsSync(target)) renameSync(target, replaced);
    renameSync(temporary, target);
  } catch (cause) {
    // A concurrent init may have been first.
    if (!existsSync(target)) throw cause;
  } finally {
    for (const each of [temporary, replaced]) rmSync(each, { recursive: true, force: true });
  }
}

const isCopied = (file: string): boolean => !file.endsWith('.d.ts');

function pointTo(link: string, name: string): void {
  const temporary = `${link}-${randomBytes(6).toString('hex')}`;
  // On Windows a junction, which needs no privileges and an absolute target.
  const windows = process.platform === 'win32';
  symlinkSync(windows ? join(dirname(link), name) : name, temporary, windows ? 'junction' : 'dir');
  try {
    renameSync(temporary, link);
  } catch {
    rmSync(link, { recursive: true, force: true });
    renameSync(temporary, link);
  }
}

function linkedTo(link: string): string | undefined {
  try {
    return basename(readlinkSync(link));
  } catch {
    return undefined;
  }
}

function digestOf(root: string, names: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of names.flatMap((name) => filesIn(root, name)).sort())
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update('\0');
  return hash.digest('hex').slice(0, 12);
}

function filesIn(root: string, name: string): string[] {
  const kind = statSync(join(root, name), { throwIfNoEntry: false });
  if (!kind?.isDirectory()) return kind && isCopied(name) ? [name] : [];
  return readdirSync(join(root, name)).flatMap((each) => filesIn(root, join(name, each)));
}
