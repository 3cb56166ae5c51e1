import { createHash } from 'node:crypto';
import { mkdir, readFile, realpath, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { delimiter, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { StepfastError } from '../errors.ts';
import { gitEnvironment } from './environment.ts';
import { type GitResult, git } from './git.ts';
import { indexFlags } from './git-index-flags.ts';
import { stepfastFiles, type TreeHasher } from './tree-hasher.ts';

interface Repository {
  top: string;
  index: string;
  objects: string;
  hashBytes: number;
}

/** What a hash was computed from. */
interface HashedTree {
  tree: string;
  /** Submodules with uncommitted changes, and nested repositories without a commit. */
  dirty: string[];
}

/**
 * Hashes the files of a git worktree. Works on a copy of the index with objects in `directory`, so that nothing is
 * written to the repository. undefined if `worktree` is not in a repository; throws `tree_unknown` if git fails.
 */
export async function openGitHasher(options: {
  worktree: string;
  exclude: readonly string[];
  directory: string;
  boundMs: number;
}): Promise<TreeHasher | undefined> {
  const { directory, boundMs } = options;
  const worktree = await realpath(options.worktree);
  const repository = await locate(worktree, boundMs);
  if (!repository) return undefined;
  const { top, hashBytes } = repository;
  const copy = join(directory, 'index');
  const env = gitEnvironment(process.env, {
    GIT_INDEX_FILE: copy,
    GIT_OBJECT_DIRECTORY: join(directory, 'objects'),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: quotedPath(repository.objects),
  });
  const notCovered = [...stepfastFiles, ...stepfastFiles.map((path) => join(top, path)), ...options.exclude];
  const excluded = [...new Set(notCovered.flatMap((path) => pathIn(top, worktree, path) ?? []))];
  const hashed = new Map<string, HashedTree>();
  let copied = '';
  let gitlinks = false;
  let sparse = false;
  let deadline = 0;

  const run = (args: readonly string[], input?: string | Buffer): Promise<GitResult> =>
    git(args, { cwd: top, env, deadline, input });
  const must = async (args: readonly string[], input?: string | Buffer): Promise<Buffer> =>
    requireSuccess(await run(args, input), boundMs).stdout;

  /** The copy keeps git's stat cache of unchanged files; it is renewed only when the index changes. */
  async function copyIndex(): Promise<void> {
    await rm(`${copy}.lock`, { force: true });
    const found = await stat(repository?.index ?? '', { bigint: true }).catch(() => undefined);
    const version = found ? `${found.ino} ${found.size} ${found.mtimeNs}` : 'none';
    if (version === copied) return;
    copied = '';
    if (!found || !repository) {
      await rm(copy, { force: true });
    } else {
      const content = await readFile(repository.index);
      await writeFile(copy, content);
      // Git compares files as new as the index by content; a newer copy would hide a quick edit.
      const mtime = Number(found.mtimeNs / 1_000_000n - 1n) / 1000;
      await utimes(copy, mtime, mtime);
      const flags = indexFlags(content, hashBytes);
      gitlinks = flags.gitlinks;
      if (flags.hidden) await unhideEntries();
    }
    copied = version;
  }

  /** Entries with assume-unchanged or skip-worktree count too, except those outside a sparse checkout. */
  async function unhideEntries(): Promise<void> {
    const setting = await run(['config', '--type=bool', 'core.sparseCheckout']);
    sparse = setting.stdout.toString().trim() === 'true';
    const entries = (await must(['ls-files', '-v', '-z'])).toString('utf8').split('\0').filter(Boolean);
    const pick = (tags: RegExp): string =>
      entries.flatMap((entry) => (tags.test(entry) ? [entry.slice(2)] : [])).join('\0');
    const assumed = pick(/^[a-z] /);
    const skipped = sparse ? '' : pick(/^[sS] /);
    if (assumed) await must(['update-index', '--no-assume-unchanged', '-z', '--stdin'], assumed);
    if (skipped) await must(['update-index', '--no-skip-worktree', '-z', '--stdin'], skipped);
  }

  const outside = excluded.map((path) => `:(top,glob,exclude)${path}`);
  const scopeOf = (paths: readonly string[]): string[] =>
    paths.map((path) => {
      const inside = pathIn(top, worktree, path);
      if (inside === undefined) throw treeUnknown(`${path} is outside the worktree`);
      return `:(top,glob)${inside}`;
    });

  /** Adds all files; returns nested repositories without a commit, which git cannot add. */
  async function add(scope: readonly string[]): Promise<string[]> {
    const args = ['add', '-A', '--ignore-errors', ...(sparse ? ['--sparse'] : []), '--'];
    const result = await run([...args, ...scope, ...outside]);
    if (result.stderr.includes('embedded git repository')) gitlinks = true;
    if (result.code === 0) return [];
    // Git fails for a missing or ignored path.
    if (!scope.includes(everything)) return add([everything]);
    const errors = result.stderr.split('\n').filter((line) => /^(?:error|fatal): /.test(line));
    // Git also fails for excluded paths that are ignored, although it added everything else.
    if (result.code === 1 && errors.length === 0) return [];
    const empty = errors.flatMap((line) => /^error: '(.+)' does not have a commit/.exec(line)?.[1] ?? []);
    if (result.code !== 1 || empty.length === 0 || empty.length < errors.length)
      requireSuccess(result, boundMs);
    return empty;
  }

  async function dirtyLinks(): Promise<string[]> {
    if (!gitlinks) return [];
    const raw = await must(['diff-files', '--raw', '-z', '--ignore-submodules=none']);
    const fields = raw.toString('utf8').split('\0');
    return fields.flatMap((field, at) => (field.startsWith(':160000') ? [fields[at + 1] ?? ''] : []));
  }

  async function hashOf(
    paths: readonly string[] | undefined,
    number: number,
    dirty: string[],
  ): Promise<string> {
    if (!paths) return keep(await writeTree(env), dirty);
    const listed = await must(['ls-files', '-s', '-z', '--', ...scopeOf(paths), ...outside]);
    const lines = listed.toString('utf8').split('\0');
    const links = new Set(
      lines.flatMap((line) => (line.startsWith('160000 ') ? [line.slice(line.indexOf('\t') + 1)] : [])),
    );
    const part = { ...env, GIT_INDEX_FILE: join(directory, `part-${number}`) };
    await rm(part.GIT_INDEX_FILE, { force: true });
    const options = { cwd: top, env: part, deadline, input: listed };
    requireSuccess(await git(['update-index', '-z', '--index-info'], options), boundMs);
    return keep(
      await writeTree(part),
      dirty.filter((name) => links.has(name)),
    );
  }

  async function writeTree(on: Record<string, string>): Promise<string> {
    const result = requireSuccess(
      await git(['write-tree', '--missing-ok'], { cwd: top, env: on, deadline }),
      boundMs,
    );
    return result.stdout.toString('latin1').trim();
  }

  function keep(tree: string, dirty: string[]): string {
    const id =
      dirty.length === 0
        ? tree
        : createHash('sha1')
            .update([tree, ...dirty].join('\0'))
            .digest('hex');
    hashed.set(`git:${id}`, { tree, dirty });
    return `git:${id}`;
  }

  return {
    async read(covers) {
      deadline = performance.now() + boundMs;
      await mkdir(join(directory, 'objects'), { recursive: true });
      await copyIndex();
      const parts = covers.every((paths) => paths !== undefined);
      const scope = parts ? scopeOf(covers.flatMap((paths) => paths ?? [])) : [everything];
      // Excluded files are not added, so both commands may use the copy at once.
      const listing = run(['ls-files', '-z', '--', ...excluded.map((path) => `:(top,glob)${path}`)]);
      const empty = await add(scope);
      const tracked = requireSuccess(await listing, boundMs).stdout;
      if (tracked.length > 0) await must(['update-index', '--force-remove', '-z', '--stdin'], tracked);
      const dirty = [...(await dirtyLinks()), ...empty];
      const hashes: string[] = [];
      for (const [number, paths] of covers.entries()) hashes.push(await hashOf(paths, number, dirty));
      return hashes;
    },

    async changed(before, after) {
      const [a, b] = [hashed.get(before), hashed.get(after)];
      if (!a || !b) return [];
      deadline = performance.now() + boundMs;
      const names = await must(['diff-tree', '-r', '-z', '--name-only', '--no-renames', a.tree, b.tree]);
      const dirty = [...a.dirty, ...b.dirty].filter(
        (name) => a.dirty.includes(name) !== b.dirty.includes(name),
      );
      return [...new Set([...names.toString('utf8').split('\0').filter(Boolean), ...dirty])].sort();
    },
  };
}

const everything = ':(top)';

async function locate(worktree: string, boundMs: number): Promise<Repository | undefined> {
  const options = { cwd: worktree, env: gitEnvironment(process.env), deadline: performance.now() + boundMs };
  const wanted = ['--show-toplevel', '--show-object-format', '--git-path', 'index', '--git-path', 'objects'];
  const found = await git(['rev-parse', ...wanted], options);
  if (found.failure === 'missing' || /not a git repository/.test(found.stderr)) return undefined;
  const [top, format, index, objects, ...rest] = requireSuccess(found, boundMs)
    .stdout.toString('utf8')
    .replace(/\n$/, '')
    .split('\n');
  if (top === undefined || index === undefined || objects === undefined || rest.length > 0) {
    throw treeUnknown('git did not report the paths of the repository');
  }
  const root = await realpath(top);
  // A directory that the surrounding repository ignores is not part of its tree.
  if (root !== worktree && (await git(['check-ignore', '-q', '.'], options)).code === 0) return undefined;
  const hashBytes = format === 'sha256' ? 32 : 20;
  return { top: root, index: resolve(worktree, index), objects: resolve(worktree, objects), hashBytes };
}

/** The path from the top of the repository, with slashes; undefined if it is outside. */
function pathIn(top: string, worktree: string, path: string): string | undefined {
  const inside = relative(top, resolve(worktree, path));
  if (inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)) return undefined;
  return inside.split(sep).join('/');
}

const quotedPath = (path: string): string =>
  path.includes(delimiter) || path.startsWith('"') ? `"${path.replace(/["\\]/g, '\\$&')}"` : path;

function requireSuccess(result: GitResult, boundMs: number): GitResult {
  if (result.failure === 'late')
    throw treeUnknown(`reading the worktree took longer than ${boundMs / 1000} s`);
  if (result.code === 0) return result;
  const [reason = `git exited with ${result.code}`] = result.stderr
    .split('\n')
    .filter((line) => /^(?:error|fatal): /.test(line));
  throw treeUnknown(reason.replace(/^(?:error|fatal): /, 'git: '));
}

const treeUnknown = (reason: string): StepfastError => new StepfastError('tree_unknown', reason);
