import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { CheckTool } from '../definition/index.ts';
import {
  type Environment,
  fileOf,
  type HookInput,
  type Host,
  hasEndNotice,
  hasHold,
  type SessionKey,
} from '../runtime/index.ts';
import { createMarks, findProject, markedRuns, type Project } from '../workspace/index.ts';

/** The process in which a hook runs. */
export interface HookEnvironment {
  env: Environment;
  /** For commands of the project, without the variables of agents. */
  commandEnv: Environment;
  home: string;
  now(): number;
  /** The host's process, where it is known. */
  pid: number | undefined;
  /** Stepfast's command line program, which runs gates in a process of its own. */
  program: string;
  /** Judges the names of tools in a workflow that a person starts. */
  checkTool?: CheckTool;
  /** The longest that a hook may wait for a server. */
  maxWaitMs: number;
}

export const keyOf = ({ host, session, agent }: HookInput): SessionKey => ({
  host,
  session,
  ...(agent === undefined ? {} : { agent: agent.id }),
});

/**
 * The project with an active run, or with a hold on stops: the one of the session's working directory, or the one in
 * which the session was opened.
 */
export function activeProject(
  host: Host,
  input: HookInput,
  { env, home }: HookEnvironment,
): Project | undefined {
  const { cwd, kind } = input;
  const { project: variable } = host.variables;
  const opened = variable === undefined ? undefined : env[variable];
  const active: Project[] = [];
  for (const directory of new Set([cwd, opened ?? ''])) {
    if (directory === '' || !existsSync(directory)) continue;
    const project = findProject(directory, { env, home });
    const marks = createMarks(project.directory);
    const hasEnd = kind !== 'after_tool' && hasEndNotice(marks);
    if (markedRuns(marks).length > 0 || hasEnd || (kind === 'stop' && hasHold(marks))) active.push(project);
  }
  // A session that changed its directory stays with the run that it is bound to.
  const bound = active.find(({ directory }) => existsSync(join(directory, 'sessions', fileOf(keyOf(input)))));
  return bound ?? active[0];
}
