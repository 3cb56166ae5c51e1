import { join } from 'node:path';
import { createTestFolder, createTestProject, type TestProject } from '../../src/testing/index.ts';

/** For tests: a complete run on the branch `work` of a project, and the bare repository that both were pushed to. */
export interface PushedRun {
  project: TestProject;
  remote: string;
  run: string;
  /** Of the workflow on the default branch. */
  hash: string;
  env: Record<string, string | undefined>;
  commit(message: string, files: Record<string, string>): void;
  /** A clean clone, as in CI. */
  clone(...args: string[]): TestProject;
  [Symbol.dispose](): void;
}

export const gate = 'grep -q good file.txt && ! test -e broken.txt';

const workflow = `name: ci
description: x
steps:
  - id: write
    type: action
    instructions: x
    gate: [{ run: ${JSON.stringify(gate)} }]
`;

/** `before` changes the branch before the run starts; `finish: false` leaves the run open. */
export async function createPushedRun({
  before = {},
  finish = true,
}: {
  before?: Record<string, string>;
  finish?: boolean;
} = {}): Promise<PushedRun> {
  const project = createTestProject({
    '.stepfast/workflows/ci.yaml': workflow,
    '.stepfast/.gitignore': '*\n!.gitignore\n!workflows/\n!workflows/**\n',
    'file.txt': 'bad\n',
  });
  const { env, git } = project;
  const remote = join(project.home, 'remote.git');
  const clones: TestProject[] = [];
  git('init', '-q', '--bare', '-b', 'main', remote);
  git('remote', 'add', 'origin', remote);
  git('push', '-q', 'origin', 'main');
  const { hash } = project.runtime().resolve('ci');
  git('checkout', '-q', '-b', 'work');
  const commit: PushedRun['commit'] = (message, files) => {
    project.write(files);
    git('add', '-A');
    git('commit', '-q', '-m', message);
  };
  if (Object.keys(before).length > 0) commit('before', before);
  project.trust('ci');
  const started = await project.run(['start', 'ci', '--summary', 'Write it', '--json'], { env });
  const { run } = JSON.parse(started.stdout);
  commit('work', { 'file.txt': 'good\n' });
  if (finish) {
    const { code, stderr } = await project.run(['advance', 'Written', '--run', run], { env });
    if (code !== 0) throw new Error(stderr);
  }
  const pushed = await project.run(['push', run, '--yes'], { env });
  if (pushed.code !== 0) throw new Error(pushed.stderr);
  git('push', '-q', 'origin', 'work');
  return {
    project,
    remote,
    run,
    hash,
    env,
    commit,
    clone: (...args) => {
      const ci = createTestFolder();
      clones.push(ci);
      ci.git('clone', '-q', ...args, `file://${remote}`, '.');
      return ci;
    },
    [Symbol.dispose]: () => {
      for (const each of [...clones, project]) each[Symbol.dispose]();
    },
  };
}
