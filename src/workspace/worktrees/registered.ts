import { existsSync } from 'node:fs';
import type { Project } from '../project.ts';
import { git } from './git.ts';
import { repositoryOf } from './places.ts';

/** A worktree that git knows. */
export interface Registered {
  path: string;
  head?: string;
  branch?: string;
  isLocked: boolean;
}

/** All worktrees of the repository whose folder exists; the main one is first. */
export async function registeredWorktrees(project: Project): Promise<Registered[]> {
  const out = await git(repositoryOf(project), 'worktree', 'list', '--porcelain');
  return out
    .split('\n\n')
    .flatMap((block) => {
      const value = (key: string): string | undefined =>
        new RegExp(`^${key}(?: (.*))?$`, 'm').exec(block)?.[1];
      const [path, head, branch] = [value('worktree'), value('HEAD'), value('branch')];
      if (path === undefined || /^bare$/m.test(block)) return [];
      return {
        path,
        ...(head === undefined ? {} : { head }),
        ...(branch === undefined ? {} : { branch: branch.replace(/^refs\/heads\//, '') }),
        isLocked: /^locked\b/m.test(block),
      };
    })
    .filter(({ path }) => existsSync(path));
}

/** The worktree that has the branch checked out. */
export const checkedOutIn = async (project: Project, branch: string): Promise<string | undefined> =>
  (await registeredWorktrees(project)).find((each) => each.branch === branch)?.path;
