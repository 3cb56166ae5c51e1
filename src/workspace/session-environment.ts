import { hostname, platform, userInfo } from 'node:os';
import { isAbsolute } from 'node:path';
import { readGitHead } from './git-head.ts';
import { type Project, portable } from './project.ts';

/** Where a session works, for its run's history. Strings only, no absolute path, and starts no process. */
export function sessionEnvironment(
  project: Project,
  env: Readonly<Record<string, string | undefined>>,
  { cwd = project.worktree, version }: { cwd?: string; version?: string } = {},
): Record<string, string> {
  const { commit, branch } = project.git ? readGitHead(project.worktree) : {};
  const place = portable(cwd, project.root);
  return {
    hostname: env.STEPFAST_MACHINE?.trim() || hostname(),
    platform: platform(),
    user: userName(env),
    // Another drive has no relative path.
    cwd: isAbsolute(place) ? 'elsewhere' : place,
    ...(commit === undefined ? {} : { git_commit: commit }),
    ...(branch === undefined ? {} : { git_branch: branch }),
    ...(version === undefined ? {} : { stepfast: version }),
  };
}

function userName(env: Readonly<Record<string, string | undefined>>): string {
  try {
    return userInfo().username;
  } catch {
    return env.USER || env.USERNAME || 'unknown';
  }
}
