import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, mkdir, readdir, readFile, readlink, realpath, rename, writeFile } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { StepfastError } from '../errors.ts';
import { createMatcher } from './path-matcher.ts';
import { stepfastFiles, type TreeHasher } from './tree-hasher.ts';

const maxMs = 2000;
/** A file changed within this time may change again without a new mtime, so its hash is not cached. */
const racyMs = 2000;

const ignored = [
  '.git',
  '.hg',
  '.svn',
  '.jj',
  'node_modules',
  '.venv',
  '__pycache__',
  '.cache',
  'coverage',
  'dist',
  '.DS_Store',
];

/** Path to size, mtime and content hash. */
type HashCache = Record<string, [size: number, mtimeMs: number, hash: string]>;

/** Hashes the files of a directory that is not in a git repository. */
export async function openFileHasher(options: {
  worktree: string;
  exclude: readonly string[];
  boundMs: number;
  cacheDirectory?: string | undefined;
  maxFiles?: number;
}): Promise<TreeHasher> {
  const { maxFiles = 20_000 } = options;
  const root = await realpath(options.worktree);
  const inRoot = (path: string): string => relative(root, resolve(root, path)).split(sep).join('/');
  const excluded = createMatcher([...stepfastFiles, ...options.exclude].map(inRoot));
  const manifests = new Map<string, Map<string, string>>();
  const cache =
    options.cacheDirectory && join(options.cacheDirectory, `files-${digest(root).slice(0, 16)}.json`);
  let cached: HashCache | undefined;

  async function manifest(): Promise<Map<string, string>> {
    const started = Date.now();
    const bound = Math.min(maxMs, options.boundMs);
    cached ??= await readCache(cache);
    const before = cached;
    const found: Map<string, string> = new Map();
    const fresh: HashCache = {};
    const check = (): void => {
      if (Date.now() - started > bound)
        throw treeUnknown(`reading the worktree took longer than ${bound / 1000} s without git`);
      if (found.size > maxFiles) throw treeUnknown(`the worktree has more than ${maxFiles} files and no git`);
    };
    const hashFile = async (path: string): Promise<void> => {
      check();
      const file = join(root, path);
      const { size, mtimeMs, mode } = await lstat(file);
      const old = Object.hasOwn(before, path) ? before[path] : undefined;
      const hash = old?.[0] === size && old[1] === mtimeMs ? old[2] : await contentHash(file, size, bound);
      if (mtimeMs < started - racyMs) fresh[path] = [size, mtimeMs, hash];
      found.set(path, `${mode & 0o100 ? 'x' : '-'}${hash}`);
    };
    const walk = async (folder: string): Promise<void> => {
      check();
      const files: string[] = [];
      for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
        const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
        if (ignored.includes(entry.name) || excluded(path)) continue;
        if (entry.isDirectory()) await walk(path);
        else if (entry.isSymbolicLink()) found.set(path, `l${digest(await readlink(join(root, path)))}`);
        else if (entry.isFile()) files.push(path);
      }
      for (let at = 0; at < files.length; at += 16) await Promise.all(files.slice(at, at + 16).map(hashFile));
    };
    await walk('');
    check();
    if (cache && cacheChanged(before, fresh)) await writeCache(cache, fresh);
    cached = fresh;
    return found;
  }

  return {
    async read(covers) {
      const all = await manifest();
      return covers.map((paths) => {
        const covered = paths ? createMatcher(paths.map(inRoot)) : () => true;
        const part = new Map([...all].filter(([path]) => covered(path)).sort(([a], [b]) => (a < b ? -1 : 1)));
        const hash = `files:${digest([...part].map((entry) => entry.join('\0')).join('\0\0'))}`;
        manifests.set(hash, part);
        return hash;
      });
    },
    async changed(before, after) {
      const [a, b] = [manifests.get(before), manifests.get(after)];
      if (!a || !b) return [];
      const names = new Set([...a.keys(), ...b.keys()]);
      return [...names].filter((name) => a.get(name) !== b.get(name)).sort();
    },
  };
}

const digest = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex');

async function contentHash(file: string, size: number, ms: number): Promise<string> {
  if (size < 1_000_000) return digest(await readFile(file));
  const hash = createHash('sha256');
  const signal = AbortSignal.timeout(ms);
  try {
    for await (const chunk of createReadStream(file, { signal })) hash.update(chunk);
  } catch (error) {
    if (signal.aborted) throw treeUnknown(`reading ${file} took longer than ${ms / 1000} s without git`);
    throw error;
  }
  return hash.digest('hex');
}

const cacheChanged = (before: HashCache, after: HashCache): boolean =>
  Object.keys(before).length !== Object.keys(after).length ||
  Object.entries(after).some(([path, [, , hash]]) => before[path]?.[2] !== hash);

/** An unreadable cache counts as empty. */
async function readCache(file: string | undefined): Promise<HashCache> {
  if (file === undefined) return {};
  try {
    const { version, files } = JSON.parse(await readFile(file, 'utf8'));
    return version === 1 ? files : {};
  } catch {
    return {};
  }
}

/** A failed write only costs time. */
async function writeCache(file: string, files: HashCache): Promise<void> {
  const temporary = `${file}.${process.pid}`;
  try {
    await mkdir(join(file, '..'), { recursive: true });
    await writeFile(temporary, JSON.stringify({ version: 1, files }));
    await rename(temporary, file);
  } catch {}
}

const treeUnknown = (reason: string): StepfastError => new StepfastError('tree_unknown', reason);
