import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { filesDeletedText } from '../messages/index.ts';
import type { HookInput } from '../runtime/index.ts';
import { writeNoFollow } from '../store/index.ts';
import { findProject, type Project } from '../workspace/index.ts';
import type { HookEnvironment } from './hook-environment.ts';

type Around = Pick<HookEnvironment, 'env' | 'home'>;

/**
 * The last run that sessions of a project worked on, outside of the project: where its `.stepfast` is deleted, no mark is left
 * that would start a hook. The shim looks for this file, whose path mirrors that of the project.
 */
const fileOf = ({ env, home }: Around, { root }: Pick<Project, 'root'>): string =>
  join(env.XDG_CACHE_HOME || join(home, '.cache'), 'stepfast', 'live', root, 'run');

export function noteLive(around: Around, project: Project, run: string): void {
  try {
    const file = fileOf(around, project);
    if (readRun(file) === run) return;
    mkdirSync(join(file, '..'), { recursive: true });
    writeNoFollow(file, run);
  } catch {
    // Only the notice of a deletion depends on it.
  }
}

/** For the person, once: the files of a run are gone, and with them its proof if it has ended. */
export function deletionNotice(input: HookInput, around: Around): string | undefined {
  const project = findProject(input.cwd);
  const file = fileOf(around, project);
  const run = readRun(file);
  // Hooks have created this folder, also for a run on a server.
  if (run === undefined || existsSync(join(project.directory, 'sessions'))) return undefined;
  rmSync(file, { force: true });
  return filesDeletedText(run);
}

function readRun(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
