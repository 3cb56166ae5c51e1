import { lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { deniedPath, redactSecrets } from '../../context/index.ts';
import { branchIn, hasMarkers, operationsIn, uncommittedIn, unresolvedIn, untrackedIn } from './changes.ts';
import { branchRef, commitOf, git, gitFailed, identity, isAncestor, listed, tryGit } from './git.ts';
import { submodulesWithWork } from './submodules.ts';

/** Why nothing was committed: a person or an agent must look at these files first. */
export interface HeldBack {
  held:
    | 'branch' // there is work, and HEAD is not on the branch; `files` is empty
    | 'rebase' // one is under way; `files` is empty
    | 'conflict'
    | 'submodule'
    | 'large'
    | 'many'
    | 'secret';
  files: string[];
}

export interface LeftoversOptions {
  message: string;
  /** The branch on which the work has to be. */
  branch?: string | undefined;
  limits?: { bytes?: number; files?: number } | undefined;
}

const mostBytes = 5 * 1024 * 1024;
const mostFiles = 200;

/**
 * Commits what a session left uncommitted, tracked and untracked; a merge under way that is resolved becomes a merge
 * commit. Where anything is held back, nothing is changed.
 */
export async function commitLeftovers(
  worktree: string,
  { message, branch, limits: { bytes = mostBytes, files: most = mostFiles } = {} }: LeftoversOptions,
): Promise<{ commit: string | undefined } | HeldBack> {
  const operations = operationsIn(worktree);
  if (operations.some((name) => name.startsWith('rebase-'))) return { held: 'rebase', files: [] };
  const merging = operations.includes('MERGE_HEAD');
  if (branch !== undefined && (await hasWorkElsewhere(worktree, branch)))
    return { held: 'branch', files: [] };
  const unresolved = await unresolvedIn(worktree);
  if (unresolved.length > 0) return { held: 'conflict', files: unresolved };
  const all = await uncommittedIn(worktree);
  // Git would record only the commit of a repository in the worktree, not its files.
  const nested = all.filter((file) => file.endsWith('/'));
  const inSubmodules = [...nested, ...(await submodulesWithWork(worktree))];
  if (inSubmodules.length > 0) return { held: 'submodule', files: inSubmodules };
  if (all.length === 0 && !merging) return { commit: undefined };
  const changed = await ownChanges(worktree, merging);
  const large = changed.filter(({ file }) => sizeOf(join(worktree, file)) > bytes);
  if (large.length > 0) return { held: 'large', files: large.map(({ file }) => file) };
  const created = changed.filter(({ isNew }) => isNew);
  if (created.length > most) return { held: 'many', files: created.map(({ file }) => file) };
  const marked: string[] = [];
  const secrets: string[] = [];
  for (const { file, isNew, readLines } of changed) {
    const lines = await readLines();
    if (merging && hasMarkers(lines)) marked.push(file);
    if ((isNew && deniedPath(file)) || (await redactSecrets(lines)).found.length > 0) secrets.push(file);
  }
  if (marked.length > 0) return { held: 'conflict', files: marked };
  if (secrets.length > 0) return { held: 'secret', files: secrets };
  await git(worktree, 'add', '--all', ':/');
  const args = ['commit', '-q', '--no-verify', '--cleanup=whitespace', '-m', message];
  const done = await tryGit(worktree, args, await identity(worktree));
  const isNothing = done.code === 1 && (await git(worktree, 'status', '--porcelain')) === '';
  if (isNothing) return { commit: undefined };
  if (done.code !== 0) throw gitFailed(args, done);
  return { commit: await commitOf(worktree, 'HEAD') };
}

/** HEAD is not on the branch, and has what the branch does not have. */
async function hasWorkElsewhere(worktree: string, branch: string): Promise<boolean> {
  if ((await branchIn(worktree)) === branch) return false;
  return (
    !(await isAncestor(worktree, 'HEAD', branchRef(branch))) || (await uncommittedIn(worktree)).length > 0
  );
}

interface OwnChange {
  file: string;
  isNew: boolean;
  /** What was added: a secret or a marker that was committed before is no news. */
  readLines(): Promise<string>;
}

/** In a merge, what comes from the other side is no change of this session. */
async function ownChanges(worktree: string, merging: boolean): Promise<OwnChange[]> {
  const sides = ['HEAD', ...(merging ? ['MERGE_HEAD'] : [])];
  const files: { names: Set<string>; added: Set<string> }[] = [];
  for (const side of sides)
    files.push({
      names: new Set(await changedSince(worktree, side)),
      added: new Set(await changedSince(worktree, side, '--diff-filter=A')),
    });
  const untracked = await untrackedIn(worktree);
  const [first = { names: new Set<string>() }] = files;
  const tracked = [...first.names].filter((file) => files.every(({ names }) => names.has(file)));
  const changes: OwnChange[] = untracked.map((file) => ({
    file,
    isNew: true,
    readLines: async () => textOf(join(worktree, file)),
  }));
  for (const file of tracked) {
    if (untracked.includes(file)) continue;
    const isNew = files.every(({ added }) => added.has(file));
    changes.push({
      file,
      isNew,
      readLines: async () => (isNew ? textOf(join(worktree, file)) : await addedLines(worktree, file, sides)),
    });
  }
  return changes;
}

const diff = ['diff', '--no-color', '--no-ext-diff', '--no-textconv', '--no-renames', '--no-relative'];

const changedSince = async (worktree: string, commit: string, ...filter: string[]): Promise<string[]> =>
  listed(await git(worktree, ...diff, '--ignore-submodules=all', '--name-only', '-z', ...filter, commit));

/** Those that are in none of the commits. */
async function addedLines(worktree: string, file: string, commits: readonly string[]): Promise<string> {
  let lines: string[] | undefined;
  for (const commit of commits) {
    const out = await git(worktree, ...diff, '-U0', commit, '--', `:(top,literal)${file}`);
    const hunks = out.slice(out.indexOf('\n@@ ') + 1 || out.length);
    const added = hunks.split('\n').flatMap((line) => (line.startsWith('+') ? line.slice(1) : []));
    const known = new Set(added);
    lines = lines?.filter((line) => known.has(line)) ?? added;
  }
  return (lines ?? []).join('\n');
}

const sizeOf = (path: string): number => lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** Empty for a binary file: its name is all that is judged. */
function textOf(path: string): string {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isSymbolicLink()) return readlinkSync(path);
  if (!found?.isFile()) return '';
  const content = readFileSync(path);
  return content.subarray(0, 8000).includes(0) ? '' : content.toString('utf8');
}
