import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createMatcher } from '../../evidence/index.ts';
import { git, listed, tryGit } from './git.ts';
import { gitFolderOf } from './places.ts';
import { submodulesWithWork } from './submodules.ts';

/** Files that differ from the last commit, and untracked ones; an untracked repository ends with `/`. */
export async function uncommittedIn(worktree: string): Promise<string[]> {
  const out = await git(
    worktree,
    ...['status', '--porcelain=v1', '-z', '-uall', '--no-renames', '--ignore-submodules=none'],
  );
  return listed(out).map((line) => line.slice(3));
}

export const untrackedIn = async (worktree: string): Promise<string[]> =>
  listed(await git(worktree, 'ls-files', '-z', '--others', '--exclude-standard', '--full-name', ':/'));

/** Tracked and untracked, without ignored ones. */
export const filesIn = async (worktree: string): Promise<string[]> =>
  listed(
    await git(worktree, 'ls-files', '-z', '--cached', '--others', '--exclude-standard', '--full-name', ':/'),
  );

/**
 * All that would be lost with the worktree, but for commits: changes, work in submodules, operations under way, and
 * files that git was told not to look at. Ignored files are no work.
 */
export async function changesIn(worktree: string): Promise<string[]> {
  return [
    ...new Set([
      ...(await uncommittedIn(worktree)),
      ...(await submodulesWithWork(worktree)),
      ...operationsIn(worktree),
      ...(await hiddenIn(worktree)),
    ]),
  ];
}

const operations = [
  'MERGE_HEAD',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'rebase-merge',
  'rebase-apply',
  'BISECT_LOG',
];

/** What git keeps in its folder of the worktree until a merge or rebase is finished. */
export const operationsIn = (worktree: string): string[] =>
  operations.filter((name) => existsSync(join(gitFolderOf(worktree), name)));

/** Entries that are marked as unchanged or outside of a sparse checkout, but have a file here. */
async function hiddenIn(worktree: string): Promise<string[]> {
  const lines = listed(await git(worktree, 'ls-files', '-z', '-v', '--full-name', ':/'));
  return lines
    .filter((line) => /^[a-zS]/.test(line))
    .map((line) => line.slice(2))
    .filter((file) => existsSync(join(worktree, file)));
}

/** Files in which a merge left both sides, and nobody resolved it. */
export async function unresolvedIn(worktree: string): Promise<string[]> {
  const sides = new Map<string, string[]>();
  for (const line of listed(await git(worktree, 'ls-files', '-z', '--unmerged', '--full-name', ':/'))) {
    const [info = '', file = ''] = [line.slice(0, line.indexOf('\t')), line.slice(line.indexOf('\t') + 1)];
    const [mode = '', , side = ''] = info.split(' ');
    sides.set(file, [...(sides.get(file) ?? []), `${side}:${mode}`]);
  }
  return [...sides].filter(([file, known]) => !isResolved(join(worktree, file), known)).map(([file]) => file);
}

/**
 * A text that both sides changed is resolved when its markers are gone. Of a binary file, a link, a submodule or a file
 * that one side removed nothing shows a decision: it must have been added or removed with git.
 */
function isResolved(path: string, sides: readonly string[]): boolean {
  const both = ['2', '3'].every((side) => sides.some((each) => each.startsWith(`${side}:100`)));
  if (!both || !lstatSync(path, { throwIfNoEntry: false })?.isFile()) return false;
  const content = readFileSync(path);
  return !content.includes(0) && !hasMarkers(content.toString('utf8'));
}

export const hasMarkers = (text: string): boolean =>
  /^<{7,} /m.test(text) && /^={7,}\r?$/m.test(text) && /^>{7,} /m.test(text);

/** Files that a merge could not merge. */
export const conflictsIn = async (worktree: string): Promise<string[]> =>
  listed(await git(worktree, 'diff', '--name-only', '--no-relative', '--diff-filter=U', '-z'));

/** Files that are not as in the commit, but for those that gates may write. */
export async function changedAfterGates(
  worktree: string,
  commit: string,
  writes: readonly string[],
): Promise<string[]> {
  const args = ['diff', '--name-only', '-z', '--no-renames', '--no-relative', '--ignore-submodules=none'];
  const changed = listed(await git(worktree, ...args, commit));
  const mayWrite = createMatcher(writes);
  return [...new Set([...changed, ...(await untrackedIn(worktree))])].filter((file) => !mayWrite(file));
}

/** The branch that is checked out; undefined for a detached HEAD. */
export async function branchIn(worktree: string): Promise<string | undefined> {
  const { code, out } = await tryGit(worktree, ['symbolic-ref', '-q', '--short', 'HEAD']);
  return code === 0 ? out.trim() : undefined;
}
