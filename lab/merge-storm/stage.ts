import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { newRun } from '../../src/engine/index.ts';
import { isRefused, type LocalRuntime, openRuntime } from '../../src/runtime/index.ts';
import { createRunWorktree } from '../../src/workspace/index.ts';
import { type Plan, parallel } from './plan.ts';

/** The repository of a seed, with a run that no driver has yet. */
export interface Stage {
  directory: string;
  /** The checkout of the person. */
  root: string;
  home: string;
  env: Record<string, string>;
  /** Notes of agents. */
  folder: string;
  run: string;
  branch: string;
  /** In which the run works: that of the person with the hazard `here`. */
  worktree: string;
  runtime: LocalRuntime;
  git(cwd: string, ...args: string[]): Promise<string>;
  remove(): void;
}

const execute = promisify(execFile);

/** Must be green on the branch of the run at the end. The library is at the recorded commit, and everything is set up. */
const check = `sleep "$(cat gate-seconds)"
[ ! -e broken ] || { echo the base is broken; exit 1; }
twice=$(cat numbers/* | sort | uniq -d)
[ -z "$twice" ] || { echo "twice: $twice"; exit 1; }
! grep -rqs '^<<<<<<<' shared.txt entries || { echo conflict markers; exit 1; }
[ ! -e must-install ] || cat parts/*/package-lock.json | cmp -s - installed || { echo not installed; exit 1; }
[ ! -e .gitmodules ] || case $(git submodule status) in [-+U]*) echo the library is not current; exit 1;; esac
[ ! -e noisy ] || date +%N >junk.txt
[ ! -e writes ] || { mkdir -p out && date +%N >out/report.txt && date +%N >out/new.txt; }
`;

export const setUp = 'cat parts/*/package-lock.json >installed';

function workflowOf({ hazards, gated, retry }: Plan): string {
  const writes = hazards.includes('declaredWrites') ? ', writes: [out/**]' : '';
  return `name: storm
description: Many tasks
${hazards.includes('lockFile') ? `worktree: { setup: '${setUp}' }\n` : ''}loops:
  work:
    - id: do
      instructions: Do it.
      on_fail: { retry: ${retry}, then: wait }
${gated ? '      gate: [{ run: \'grep -q "work of $STEPFAST_TASK_ID" "entries/$STEPFAST_TASK_ID.txt"\' }]\n' : ''}steps:
  - id: work
    type: loop
    parallel: ${parallel}
    tasks: { json: tasks.json, locked: true }
    merge_gate: [{ run: sh check.sh${writes} }]
`;
}

export async function createStage(plan: Plan, cli: string): Promise<Stage> {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), `stepfast-storm-${plan.seed}-`)));
  const [root, home, folder] = ['project', 'home', 'notes'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  for (const each of [root, home, folder]) mkdirSync(each);
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    TMPDIR: tmpdir(),
    GIT_CONFIG_NOSYSTEM: '1',
  };
  const now = (cwd: string, ...args: string[]): string =>
    execFileSync('git', args, { cwd, env, encoding: 'utf8', stdio: 'pipe' }).trim();
  const settings = { 'user.name': 'Person', 'user.email': 'person@example.com', 'gc.auto': '0' };
  now(root, 'init', '-q', '-b', 'main');
  for (const [key, value] of Object.entries({ ...settings, 'protocol.file.allow': 'always' }))
    for (const scope of ['--global', '--local']) now(root, 'config', scope, key, value);
  const has = (hazard: Plan['hazards'][number]): boolean => plan.hazards.includes(hazard);
  const files: Record<string, string> = {
    '.gitignore': 'installed\n',
    '.stepfast/workflows/storm.yaml': workflowOf(plan),
    'tasks.json': JSON.stringify(
      plan.tasks.map(({ id, dependsOn }) => ({ id, title: id, depends_on: dependsOn })),
    ),
    'check.sh': check,
    'gate-seconds': String(plan.gateMs / 1000),
    'shared.txt': 'first\n',
    'entries/first.txt': 'first\n',
    'numbers/first.txt': '1\n',
    'parts/first/package-lock.json': 'first\n',
    'notes.txt': 'of the person\n',
    ...(has('lockFile') ? { 'must-install': '' } : {}),
    ...(has('declaredWrites') ? { writes: '', 'out/report.txt': '0\n' } : {}),
  };
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), content);
  }
  if (has('submodules')) addLibrary(directory, root, now);
  now(root, 'add', '-A');
  now(root, 'commit', '-q', '-m', 'first');
  const open = (worktree?: string): LocalRuntime =>
    openRuntime({
      ...{ cwd: root, home, env },
      runner: { program: process.execPath, args: [cli, 'gate-runner'] },
      ...(worktree === undefined ? {} : { worktree }),
    });
  const here = open();
  here.trust.give(here.resolve('storm').definition, { now: 1, by: 'person' });
  const id = newRun('storm', Date.now());
  const tree = has('here') ? undefined : await createRunWorktree(here.project, { run: id });
  const worktree = tree?.path ?? root;
  const runtime = tree ? open(worktree) : here;
  const { reply } = await runtime.start(
    { workflow: 'storm', id, resume: false },
    { actor: { kind: 'engine' } },
  );
  if (isRefused(reply)) throw new Error(`the run did not start: ${reply.code}`);
  if (has('notCheckedOut')) now(worktree, 'checkout', '-q', '--detach');
  return {
    ...{ directory, root, home, env, folder, worktree, runtime },
    run: id,
    branch: tree?.branch ?? 'main',
    git: async (cwd, ...args) =>
      (await execute('git', args, { cwd, env, maxBuffer: 64 * 1024 * 1024 })).stdout.trim(),
    remove: () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }),
  };
}

function addLibrary(directory: string, root: string, git: (cwd: string, ...args: string[]) => string): void {
  const [bare, first] = [join(directory, 'library.git'), join(directory, 'library')];
  git(directory, 'init', '-q', '--bare', '-b', 'main', bare);
  git(directory, 'clone', '-q', bare, first);
  writeFileSync(join(first, 'one.txt'), 'one\n');
  git(first, 'add', '-A');
  git(first, 'commit', '-q', '-m', 'one');
  git(first, 'push', '-q', 'origin', 'HEAD:main');
  git(root, 'submodule', '--quiet', 'add', bare, 'lib');
}
