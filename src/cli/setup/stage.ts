import { createHash, randomBytes } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
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
 * version has a folder of its own, and one link leads to the newest, exchanged in one step: sessions that run keep
 * theirs. Idempotent.
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
  const name = `${version}-${digestOf(root, names)}`;
  const target = join(folder, name);
  const before = linkedTo(link);
  const current = before === name && existsSync(target);
  if (!current && copies) {
    mkdirSync(folder, { recursive: true });
    if (!existsSync(target)) copy(root, names, target);
    pointTo(link, name);
    for (const old of readdirSync(folder))
      if (/^\d.*-[0-9a-f]{12}$/.test(old) && old !== name && old !== before)
        rmSync(join(folder, old), { recursive: true, force: true });
  }
  return { plugin: link, version, current };
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

/** Whole or not at all: copied beside, then renamed. */
function copy(root: string, names: readonly string[], target: string): void {
  const beside = join(dirname(target), `.copying-${randomBytes(6).toString('hex')}`);
  try {
    mkdirSync(beside);
    for (const name of names)
      cpSync(join(root, name), join(beside, name), {
        recursive: true,
        filter: (file) => !file.endsWith('.d.ts'),
      });
    renameSync(beside, target);
  } catch (cause) {
    // Another init may have been first.
    if (!existsSync(target)) throw cause;
  } finally {
    rmSync(beside, { recursive: true, force: true });
  }
}

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
  if (!statSync(join(root, name)).isDirectory()) return [name];
  return readdirSync(join(root, name)).flatMap((each) => filesIn(root, join(name, each)));
}
