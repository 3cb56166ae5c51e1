import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileOf, type HookInput, isHeld, type SessionKey } from '../runtime/index.ts';
import { createMarks, findProject, markedRuns, type Project } from '../workspace/index.ts';

/** What a hook knows of the world. */
export interface Around {
  env: Readonly<Record<string, string | undefined>>;
  home: string;
  now(): number;
  /** The host's process, where it is known. */
  pid: number | undefined;
}

export const keyOf = ({ host, session, agent }: HookInput): SessionKey => ({
  host,
  session,
  ...(agent === undefined ? {} : { agent: agent.id }),
});

/** The project in which a run is active, or which holds stops: where the session stands now, or where it was opened. */
export function activeProject(input: HookInput, { env }: Pick<Around, 'env'>): Project | undefined {
  const { cwd, kind } = input;
  const active: Project[] = [];
  for (const directory of new Set([cwd, env.CLAUDE_PROJECT_DIR ?? ''])) {
    if (directory === '' || !existsSync(directory)) continue;
    const project = findProject(directory);
    const marks = createMarks(project.directory);
    if (markedRuns(marks).length > 0 || (kind === 'stop' && isHeld(marks))) active.push(project);
  }
  // A session that went elsewhere keeps to the run that it is bound to.
  const bound = active.find(({ directory }) => existsSync(join(directory, 'sessions', fileOf(keyOf(input)))));
  return bound ?? active[0];
}
