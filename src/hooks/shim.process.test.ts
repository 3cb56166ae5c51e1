import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { hostDialects } from '../../test/kit/dialects/index.ts';
import { createTestProject, type TestProject } from '../testing/index.ts';
import { createMarks } from '../workspace/index.ts';

const source = join(import.meta.dirname, '..', '..', 'hooks', 'stepfast-hook.sh');

let project: TestProject;
let shim: string;
beforeEach(() => {
  project = createTestProject();
  const plugin = join(project.root, '..', 'a plugin');
  shim = join(plugin, 'hooks', 'stepfast-hook.sh');
  for (const folder of ['hooks', 'dist']) mkdirSync(join(plugin, folder), { recursive: true });
  copyFileSync(source, shim);
  chmodSync(shim, 0o755);
  // Stands for the program: what matters here is whether it is started, and with what.
  writeFileSync(join(plugin, 'dist', 'hook.cjs'), 'console.log("started", ...process.argv.slice(2));\n');
  writeFileSync(join(plugin, 'dist', 'hook-main.cjs'), '');
});
afterEach(() => project[Symbol.dispose]());

const fire = (cwd: string, mark = 'session_start', env: Record<string, string> = {}) => {
  const { stdout, stderr, status } = spawnSync('/bin/sh', [shim, mark, 'claude-code', 'SessionStart'], {
    cwd,
    env: { ...project.env, PWD: cwd, ...env },
    input: '{}',
    encoding: 'utf8',
  });
  return { stdout: stdout.trim(), stderr, status };
};
const silent = { stdout: '', stderr: '', status: 0 };
const started = { stdout: 'started --host claude-code SessionStart', stderr: '', status: 0 };
const mark = (root: string, ...marks: string[]) => createMarks(join(root, '.stepfast')).want('run.x', marks);

describe('the shim', () => {
  test('[002/9] starts nothing where there is no mark, of this event or at all', () => {
    expect(fire(project.root)).toEqual(silent);
    mark(project.root, 'stop');
    expect(fire(project.root)).toEqual(silent);
    expect(fire(project.root, 'stop')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('started'),
    });
  });

  test("a call of Stepfast's own tools needs no mark: it may be the one that starts a run", () => {
    expect(fire(project.root, 'before_tool-stepfast')).toEqual(started);
    expect(fire(project.root, 'before_tool')).toEqual(silent);
  });

  test('a command that a person types needs no mark, other prompts do', () => {
    const typed = (prompt: string) =>
      spawnSync('/bin/sh', [shim, 'prompt', 'claude-code', 'UserPromptSubmit'], {
        cwd: project.root,
        env: { ...project.env, PWD: project.root },
        input: JSON.stringify({ prompt }),
        encoding: 'utf8',
      }).stdout.trim();
    expect(typed('/stepfast:go fix it')).toBe('started --host claude-code UserPromptSubmit');
    expect(typed('what is /stepfast:go?')).toBe('');
  });

  test.each(hostDialects.map((dialect) => [dialect.host.name, dialect] as const))(
    'a command that is typed in %s needs no mark',
    (name, { names, payload: payloadOf }) => {
      const input = { host: name, kind: 'prompt', session: 'a', cwd: project.root } as const;
      const { event, payload } = payloadOf({ ...input, prompt: `${names.command}go fix it` });
      const { stdout } = spawnSync('/bin/sh', [shim, 'prompt', name, event], {
        cwd: project.root,
        env: { ...project.env, PWD: project.root },
        input: JSON.stringify(payload),
        encoding: 'utf8',
      });
      expect(stdout.trim()).toBe(`started --host ${name} ${event}`);
    },
  );

  test('a project whose files were deleted is found at a stop', () => {
    const live = join(project.env.HOME ?? '', '.cache', 'stepfast', 'live', project.root);
    mkdirSync(live, { recursive: true });
    writeFileSync(join(live, 'run'), 'w-1');
    expect(fire(project.root, 'stop').stdout).toContain('started');
    expect(fire(project.root, 'session_start')).toEqual(silent);
    mkdirSync(join(project.root, '.stepfast', 'sessions'), { recursive: true });
    expect(fire(project.root, 'stop')).toEqual(silent);
  });

  test('finds the mark from a folder inside the project, and from where the host was opened', () => {
    mark(project.root, 'session_start');
    mkdirSync(join(project.root, 'a', 'b'), { recursive: true });
    expect(fire(join(project.root, 'a', 'b'))).toEqual(started);
    const outside = join(project.root, '..');
    expect(fire(outside)).toEqual(silent);
    expect(fire(outside, 'session_start', { CLAUDE_PROJECT_DIR: project.root })).toEqual(started);
  });

  test('[P4/9] a linked worktree finds the marks of the main one, also for a project inside it', () => {
    const worktree = join(project.root, '..', 'other');
    project.git('worktree', 'add', '-q', worktree);
    mkdirSync(join(worktree, 'packages', 'web', 'src'), { recursive: true });
    expect(fire(join(worktree, 'packages', 'web', 'src'))).toEqual(silent);
    mark(join(project.root, 'packages', 'web'), 'session_start');
    expect(fire(join(worktree, 'packages', 'web', 'src'))).toEqual(started);
    expect(fire(worktree)).toEqual(silent);
    mark(project.root, 'session_start');
    expect(fire(worktree)).toEqual(started);
  });

  test('[P4/9] a worktree of a bare repository finds the marks in its git directory', () => {
    const bare = join(project.root, '..', 'bare.git');
    const worktree = join(project.root, '..', 'of-bare');
    execFileSync('git', ['clone', '-q', '--bare', project.root, bare], { env: project.env });
    execFileSync('git', ['worktree', 'add', '-q', worktree], { cwd: bare, env: project.env });
    expect(fire(worktree)).toEqual(silent);
    mark(bare, 'session_start');
    expect(fire(worktree)).toEqual(started);
  });

  test('a project inside another repository keeps to its own', () => {
    mark(project.root, 'session_start');
    const inner = join(project.root, 'vendor');
    execFileSync('git', ['init', '-q', inner], { env: project.env });
    expect(fire(inner)).toEqual(silent);
  });

  test.each(['CLAUDE.local.md', 'CLAUDE/Plan/one/PLAN.md'])(
    '[002/8] before a compaction %s is enough, for no other event',
    (file) => {
      project.write({ [file]: 'x' });
      expect(fire(project.root)).toEqual(silent);
      expect(fire(project.root, 'before_compact')).toEqual(started);
    },
  );

  test('reports what is missing while a run is active, and exits 0', () => {
    const env = { PATH: '/nowhere' };
    expect(fire(project.root, 'session_start', env)).toEqual(silent);
    mark(project.root, 'session_start');
    const { stdout, ...rest } = fire(project.root, 'session_start', env);
    expect(rest).toEqual({ stderr: '', status: 0 });
    expect(JSON.parse(stdout).systemMessage).toMatch(/node is not on the PATH, so this session is not told/);
    for (const part of ['hook-main.cjs', 'hook.cjs']) {
      rmSync(join(shim, '..', '..', 'dist', part));
      expect(JSON.parse(fire(project.root).stdout).systemMessage).toMatch(/not built/);
    }
  });
});
