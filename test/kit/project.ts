import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type LocalRuntime, openRuntime, type RuntimeOptions } from '../../src/runtime/index.ts';

/** A temporary git repository with a home of its own, and the real runtime with real gates in it. */
export interface TestProject {
  root: string;
  env: Record<string, string>;
  write(files: Record<string, string>): void;
  git(...args: string[]): string;
  runtime(options?: Partial<RuntimeOptions>): LocalRuntime;
  /** What a person would do at a terminal. */
  trust(workflow: string): void;
  [Symbol.dispose](): void;
}

export function createTestProject(files: Record<string, string> = {}): TestProject {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'stepfast-test-')));
  const root = join(directory, 'project');
  const home = join(directory, 'home');
  mkdirSync(root);
  mkdirSync(home);
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'Test',
    GIT_AUTHOR_EMAIL: 'test@example.com',
    GIT_COMMITTER_NAME: 'Test',
    GIT_COMMITTER_EMAIL: 'test@example.com',
    ...served(),
  };
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: root, env, stdio: 'pipe', encoding: 'utf8' });
  const write = (more: Record<string, string>): void => {
    for (const [file, text] of Object.entries(more)) {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      writeFileSync(join(root, file), text);
    }
  };
  const runtime = (options: Partial<RuntimeOptions> = {}): LocalRuntime =>
    openRuntime({
      cwd: root,
      env,
      home,
      runner: { program: process.execPath, args: [join(import.meta.dirname, 'gate-runner.ts')] },
      ...options,
    });
  git('init', '-q', '-b', 'main');
  write({ 'README.md': 'A project\n', ...files });
  git('add', '-A');
  git('commit', '-q', '-m', 'first');
  return {
    root,
    env,
    write,
    git,
    runtime,
    trust: (workflow) => {
      const { trust, resolve } = runtime();
      trust.give({ hash: resolve(workflow).hash, workflow, now: 1, by: 'person' });
    },
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** What holds of files alone, or of our own clock alone, is not asked of a server. */
export const isServed = process.env.STEPFAST_TEST_URL !== undefined;

/** Where a suite runs against a server: every project of it is logged in there. */
function served(): Record<string, string> {
  const { STEPFAST_TEST_URL: url, STEPFAST_TEST_TOKEN: token } = process.env;
  return url && token ? { STEPFAST_URL: url, STEPFAST_TOKEN: token, STEPFAST_HOOK_WAIT_MS: '4000' } : {};
}
