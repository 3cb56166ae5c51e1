import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { git, listed, tryGit } from './git.ts';

/** Submodules and nested repositories that the index names, of this repository only. */
async function gitlinksOf(worktree: string): Promise<string[]> {
  const { out } = await tryGit(worktree, ['ls-files', '--stage', '-z']);
  const links = listed(out).filter((line) => line.startsWith('160000 '));
  return [...new Set(links.map((line) => line.slice(line.indexOf('\t') + 1)))];
}

const isThere = (worktree: string, path: string): boolean => existsSync(join(worktree, path, '.git'));

/** Clones and checks out what is missing; a submodule that is there is left as it is. Throws `git_failed`. */
export async function initSubmodules(worktree: string): Promise<void> {
  if (!existsSync(join(worktree, '.gitmodules'))) return;
  const missing = (await gitlinksOf(worktree)).filter((path) => !isThere(worktree, path));
  if (missing.length > 0) await update(worktree, '--', ...missing);
}

/**
 * Brings submodules to the recorded commits, unless one of them holds work. Throws `git_failed`, for instance where a
 * recorded commit was never pushed.
 */
export async function updateSubmodules(worktree: string): Promise<void> {
  if (!existsSync(join(worktree, '.gitmodules'))) return;
  if ((await submodulesWithWork(worktree)).length === 0) await update(worktree);
}

/** In a worktree of Stepfast's own, where nobody works: whatever gates left there is replaced. */
export async function resetSubmodules(worktree: string): Promise<void> {
  if (existsSync(join(worktree, '.gitmodules'))) await update(worktree, '--force');
}

/** Git refuses local submodules from a `.gitmodules` unless the person's own settings allow them. */
async function update(worktree: string, ...args: string[]): Promise<void> {
  const { out } = await tryGit(worktree, ['config', '--get', 'protocol.file.allow']);
  const local = out.trim() === 'always' ? ['-c', 'protocol.file.allow=always'] : [];
  await git(worktree, ...local, 'submodule', 'update', '-q', '--init', '--recursive', ...args);
}

/**
 * Submodules with changes, or with commits that are on no remote branch: they exist nowhere else, since every worktree
 * has clones of its own. A stash in one counts as well.
 */
export async function submodulesWithWork(worktree: string, within = ''): Promise<string[]> {
  const found: string[] = [];
  for (const path of await gitlinksOf(worktree)) {
    if (!isThere(worktree, path)) continue;
    const inner = join(worktree, path);
    const changes = await tryGit(inner, ['status', '--porcelain', '-z', '-uall', '--ignore-submodules=all']);
    const only = await tryGit(inner, ['rev-list', '-n1', '--all', '--not', '--remotes']);
    if (changes.code !== 0 || only.code !== 0 || changes.out !== '' || only.out !== '')
      found.push(`${within}${path}`);
    found.push(...(await submodulesWithWork(inner, `${within}${path}/`)));
  }
  return found;
}
