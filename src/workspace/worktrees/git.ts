import { setTimeout } from 'node:timers/promises';
import { StepfastError } from '../../errors.ts';
import { gitEnvironment, git as runGit } from '../../evidence/index.ts';
import { gitOwnerVariable } from '../leftover-processes.ts';

/**
 * No hooks and no programs of the repository, which are not trusted; no signature, which may ask for a passphrase; no
 * stash, which all worktrees share; no recorded conflict resolutions; no housekeeping in the background.
 */
const settings = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'commit.gpgsign=false',
  'merge.autoStash=false',
  'rerere.enabled=false',
  'submodule.recurse=false',
  'gc.auto=0',
  'maintenance.auto=false',
];

export interface GitAnswer {
  /** null if git could not be started, for instance because the folder is gone. */
  code: number | null;
  out: string;
  err: string;
}

export async function tryGit(
  cwd: string,
  args: readonly string[],
  own: Record<string, string> = {},
): Promise<GitAnswer> {
  const env = gitEnvironment(process.env, { ...own, [gitOwnerVariable]: String(process.pid) });
  for (let tries = 1; ; tries += 1) {
    const { code, stdout, stderr } = await runGit(args, { cwd, env, settings });
    if (code === 0 || tries > maxTries || !meetsHalfWorktree.test(stderr))
      return { code, out: stdout.toString('utf8'), err: stderr.trim() };
    await setTimeout(halfMs);
  }
}

/** Another git has created the files of a worktree and not written them yet. Any git that lists worktrees fails then. */
const meetsHalfWorktree = /failed to read .*worktrees\/.*\/commondir/;
const halfMs = 100;
const maxTries = 50;

/** Throws `git_failed`. */
export async function git(cwd: string, ...args: string[]): Promise<string> {
  const answer = await tryGit(cwd, args);
  if (answer.code !== 0) throw gitFailed(args, answer);
  return answer.out;
}

export const gitFailed = (args: readonly string[], { err }: GitAnswer): StepfastError =>
  new StepfastError('git_failed', `git ${args[0]}: ${err.slice(0, 2000)}`);

/** What git lists with `-z`. */
export const listed = (out: string): string[] => out.split('\0').filter((name) => name !== '');

/** The commit of a branch, tag or id; undefined if there is none. */
export async function commitOf(cwd: string, name: string): Promise<string | undefined> {
  const { code, out } = await tryGit(cwd, [
    'rev-parse',
    '--verify',
    '-q',
    '--end-of-options',
    `${name}^{commit}`,
  ]);
  return code === 0 ? out.trim() : undefined;
}

export const branchRef = (branch: string): string => `refs/heads/${branch}`;

/** False as well if one of them is no commit. */
export async function isAncestor(cwd: string, commit: string, of: string): Promise<boolean> {
  return (await tryGit(cwd, ['merge-base', '--is-ancestor', commit, of])).code === 0;
}

/** The configured identity, else one of our own: git would make one up from the name of the machine, or fail. */
export async function identity(cwd: string): Promise<Record<string, string>> {
  for (const name of ['GIT_AUTHOR_IDENT', 'GIT_COMMITTER_IDENT']) {
    const { code } = await tryGit(cwd, ['-c', 'user.useConfigOnly=true', 'var', name]);
    if (code === 0) continue;
    return {
      GIT_AUTHOR_NAME: 'Stepfast',
      GIT_AUTHOR_EMAIL: 'stepfast@localhost',
      GIT_COMMITTER_NAME: 'Stepfast',
      GIT_COMMITTER_EMAIL: 'stepfast@localhost',
    };
  }
  return {};
}
