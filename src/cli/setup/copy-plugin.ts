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
  /** Always the same, whichever version it leads to. */
  plugin: string;
  version: string;
  /** Whether its files are those of this program already. */
  current: boolean;
}

/** Where hosts find the plugin, below Stepfast's folder of this user. */
export const pluginLink = (state: string): string => join(state, 'plugin', 'current');

/**
 * A copy of the published files for hosts to load, since the package itself may be in a cache that is emptied. Each
 * version has a folder of its own, and one link leads to the newest, exchanged in one step. Hooks follow the link, also
 * those of sessions that run; the folder before stays for what these have loaded already. Idempotent.
 */
export function stage(state: string, root: string = packageRoot()): Staged {
  return staged(state, root, true);
}

/** What `stage` would do. */
export const lookStaged = (state: string, root: string = packageRoot()): Staged => staged(state, root, false);

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
  const isWhole = (): boolean => digestOf(target, names) === digest;
  const current = before === name && isWhole();
  if (!current && copies) {
    mkdirSync(folder, { recursive: true });
    // Another program's `stage` may clear away at the same moment.
    for (let left = 3; left > 0; left--) {
      if (isWhole()) renew(target);
      else copy(root, names, target);
      pointTo(link, name);
      if (existsSync(target)) break;
    }
    clearAway(folder, [name, before]);
  }
  return { plugin: link, version, current };
}

/** Old versions, and what a program that was ended left. Not the newest: another one may be at work on it. */
function clearAway(folder: string, keep: readonly (string | undefined)[]): void {
  for (const old of readdirSync(folder)) {
    if (keep.includes(old) || !/^(\d.*-[0-9a-f]{12}|\.copying-.*|current-[0-9a-f]{12})$/.test(old)) continue;
    const path = join(folder, old);
    const age =
      Date.now() - (lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY);
    if (age > youngMs) rmSync(path, { recursive: true, force: true });
  }
}

const youngMs = 10 * 60_000;

/** A copy that is used again counts as new. */
function renew(target: string): void {
  try {
    utimesSync(target, new Date(), new Date());
  } catch {
    // Gone at this moment: it is looked for once more.
  }
}

/** Takes the copies away; nothing happens where there are none. */
export function unstage(state: string): void {
  const folder = dirname(pluginLink(state));
  rmSync(pluginLink(state), { force: true });
  rmSync(folder, { recursive: true, force: true });
}

/** The package's own folder, in the sources as in the bundle. */
export function packageRoot(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json')) && manifestOf(folder).name === 'stepfast') return folder;
    if (folder === dirname(folder))
      throw new StepfastError('no_plugin', "Stepfast's own package was not found.");
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

/** Whole or not at all: copied beside, then renamed. What is there is not whole, and makes way. */
function copy(root: string, names: readonly string[], target: string): void {
  const beside = join(dirname(target), `.copying-${randomBytes(6).toString('hex')}`);
  const aside = `${beside}-old`;
  try {
    mkdirSync(beside);
    for (const name of names)
      cpSync(join(root, name), join(beside, name), { recursive: true, filter: isCopied });
    if (existsSync(target)) renameSync(target, aside);
    renameSync(beside, target);
  } catch (cause) {
    // Another init may have been first.
    if (!existsSync(target)) throw cause;
  } finally {
    for (const each of [beside, aside]) rmSync(each, { recursive: true, force: true });
  }
}

const isCopied = (file: string): boolean => !file.endsWith('.d.ts');

function pointTo(link: string, name: string): void {
  const beside = `${link}-${randomBytes(6).toString('hex')}`;
  // On Windows a junction, which anybody may make and whose target is absolute.
  const windows = process.platform === 'win32';
  symlinkSync(windows ? join(dirname(link), name) : name, beside, windows ? 'junction' : 'dir');
  try {
    renameSync(beside, link);
  } catch {
    rmSync(link, { recursive: true, force: true });
    renameSync(beside, link);
  }
}

function linkedTo(link: string): string | undefined {
  try {
    return basename(readlinkSync(link));
  } catch {
    return undefined;
  }
}

/** Of what is copied. */
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
