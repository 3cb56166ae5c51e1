import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { createTestFolder, type TestProject } from '../../src/testing/index.ts';

/** For tests: two projects in git with one bare repository between them, and a run in the first. */
export interface TwoClones {
  a: TestProject;
  b: TestProject;
  run: string;
  env: Record<string, string | undefined>;
  git(project: TestProject, ...args: string[]): string;
  /** Both machines say something that the other does not know; the second one is there first. */
  diverge(): Promise<void>;
  [Symbol.dispose](): void;
}

export const workflow =
  'name: w\ndescription: x\nsteps:\n  - { id: a, type: action, instructions: x }\n  - { id: b, type: action, instructions: y }\n';

export async function createTwoClones(): Promise<TwoClones> {
  const a = createTestFolder({ '.stepfast/workflows/w.yaml': workflow });
  const b = createTestFolder();
  const env = { PATH: process.env.PATH };
  const git = ({ root }: TestProject, ...args: string[]): string =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: 'pipe' }).trim();
  const remote = join(a.home, 'remote.git');
  git(a, 'init', '-q', '--bare', remote);
  for (const project of [a, b]) {
    git(project, 'init', '-q');
    git(project, 'remote', 'add', 'origin', remote);
  }
  const { stdout } = await a.run(['start', 'w', '--summary', 'Moved', '--json'], { env });
  const run: string = JSON.parse(stdout).run;
  return {
    a,
    b,
    run,
    env,
    git,
    diverge: async () => {
      await a.run(['push', '--yes'], { env });
      await b.run(['pull'], { env });
      await a.run(['note', 'decision', 'Said on A', '--run', run], { env });
      await b.run(['note', 'decision', 'Said on B', '--run', run], { env });
      await b.run(['push', run, '--yes'], { env });
    },
    [Symbol.dispose]: () => {
      a[Symbol.dispose]();
      b[Symbol.dispose]();
    },
  };
}
