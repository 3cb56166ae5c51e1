import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { run } from '../cli/index.ts';
import type { Event } from '../machine/index.ts';
import { isRefused, type LocalRuntime, openRuntime, type RuntimeOptions } from '../runtime/index.ts';
import { createFakeIo } from './fake-io.ts';
import { cliProgram } from './programs.ts';
import type { ProjectKit, TestFiles, TestRun } from './project-kit.ts';

/** With the runtime, for Stepfast's own tests. */
export interface TestProject extends ProjectKit {
  /** Gates run in real processes. */
  runtime(options?: Partial<RuntimeOptions>): LocalRuntime;
}

/** A temporary git repository with one commit. */
export function createTestProject(files: TestFiles = {}): TestProject {
  const project = createTestFolder({ 'README.md': 'A project\n', ...files });
  project.git('init', '-q', '-b', 'main');
  project.git('add', '-A');
  project.git('commit', '-q', '-m', 'first');
  return project;
}

/** A temporary folder without git. */
export function createTestFolder(files: TestFiles = {}): TestProject {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'stepfast-test-')));
  const root = join(directory, 'project');
  const home = join(directory, 'home');
  for (const folder of [root, home]) mkdirSync(folder);
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    TMPDIR: tmpdir(),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'Test',
    GIT_AUTHOR_EMAIL: 'test@example.com',
    GIT_COMMITTER_NAME: 'Test',
    GIT_COMMITTER_EMAIL: 'test@example.com',
    ...teamServer(),
  };
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: root, env, stdio: 'pipe', encoding: 'utf8' });
  const write: ProjectKit['write'] = (more) => {
    for (const [file, content] of Object.entries(more)) {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      writeFileSync(join(root, file), content);
    }
  };
  const runtime: TestProject['runtime'] = (options) => runtimeIn({ root, home, env }, options);
  write(files);
  return {
    root,
    home,
    env,
    write,
    git,
    run: async (argv, more) => {
      const { io, stdout, stderr } = createFakeIo({ cwd: root, home, env, ...more });
      const code = await run(argv, io);
      return { code, stdout: stdout(), stderr: stderr() };
    },
    runtime,
    trust: (workflow) => {
      const { trust, resolve } = runtime();
      trust.give(resolve(workflow).definition, { now: 1, by: 'person' });
    },
    startRun: async (workflow) => {
      const { run = '', reply } = await runtime().start({ workflow }, { session: 'before' });
      if (isRefused(reply)) throw new Error(reply.code);
      return testRun(runtime(), run, reply.at);
    },
    onlyRun: async () => {
      const found = runtime();
      const [info, more] = await found.engine.runs();
      if (!info || more) throw new Error('The project has no run, or several.');
      return testRun(found, info.run);
    },
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }),
  };
}

export const runtimeIn = (
  { root, home, env }: Pick<ProjectKit, 'root' | 'home' | 'env'>,
  options: Partial<RuntimeOptions> = {},
): LocalRuntime =>
  openRuntime({
    cwd: root,
    env,
    home,
    runner: { program: process.execPath, args: [cliProgram, 'gate-runner'] },
    notifier: { program: process.execPath, args: [cliProgram, 'notifier'] },
    ...options,
  });

function testRun({ engine }: LocalRuntime, run: string, at = ''): TestRun {
  return {
    run,
    at,
    async state() {
      const view = await engine.view(run);
      if (!view) throw new Error(`There is no run '${run}'.`);
      return view.state;
    },
    async events(type) {
      const all = (await engine.entries(run)).flatMap(({ events }) => events);
      // The filter keeps only this type.
      return all.filter((event) => event.type === type) as Extract<Event, { type: typeof type }>[];
    },
  };
}

function teamServer(): Record<string, string> {
  const { STEPFAST_TEST_URL: url, STEPFAST_TEST_TOKEN: token } = process.env;
  return url && token ? { STEPFAST_URL: url, STEPFAST_TOKEN: token, STEPFAST_HOOK_WAIT_MS: '4000' } : {};
}
