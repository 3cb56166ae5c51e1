import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { vi } from 'vitest';
import { createTestProject, type TestFiles, type TestProject } from '../../src/testing/index.ts';
import { findProject, type Project } from '../../src/workspace/index.ts';

/** A repository with a branch for a run, and short ways to work in its worktrees. */
export interface WorktreeKit extends Omit<TestProject, 'run'> {
  project: Project;
  run: string;
  /** Git in a folder, as the agent of a session. */
  in(folder: string, ...args: string[]): string;
  /** Writes files into a worktree, and commits all of it unless there is no message. */
  work(folder: string, files: TestFiles, message?: string): string;
  /** Settings of the person, who has a name. */
  configure(key: string, value: string): void;
}

/** Also isolates this process from the settings of the user: `vi.unstubAllEnvs()` in `afterEach`. */
export function createWorktreeKit(files: TestFiles = {}): WorktreeKit {
  const kit = createTestProject(files);
  const settings = join(kit.home, 'gitconfig');
  writeFileSync(settings, '[user]\n\tname = Person\n\temail = person@example.com\n');
  vi.stubEnv('GIT_CONFIG_GLOBAL', settings);
  vi.stubEnv('GIT_CONFIG_NOSYSTEM', '1');
  const inFolder = (folder: string, ...args: string[]): string =>
    execFileSync('git', args, { cwd: folder, env: kit.env, encoding: 'utf8', stdio: 'pipe' }).trim();
  return {
    ...kit,
    project: findProject(kit.root, { env: kit.env, home: kit.home }),
    run: 'w-20261116-k3f9x2ab',
    in: inFolder,
    work(folder, more, message) {
      for (const [file, content] of Object.entries(more)) {
        mkdirSync(dirname(join(folder, file)), { recursive: true });
        writeFileSync(join(folder, file), content);
      }
      if (message === undefined) return '';
      inFolder(folder, 'add', '-A');
      inFolder(folder, 'commit', '-q', '-m', message);
      return inFolder(folder, 'rev-parse', 'HEAD');
    },
    configure: (key, value) => void inFolder(kit.root, 'config', '--file', settings, key, value),
  };
}
