import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTestProject, type TestProject } from '../../testing/index.ts';
import type { LocalRuntime } from '../open-runtime.ts';
import { createGit, type Git } from './git.ts';
import { createTransfer, type Incoming, type IncomingHistory, type Transfer } from './transfer.ts';

const workflow = `name: two
description: Two steps
steps:
  - { id: one, type: action, instructions: Do one. }
  - { id: two, type: action, instructions: Do two. }
`;
const long = 'Many words of a design. '.repeat(100);

let a: TestProject;
let b: TestProject;
let here: LocalRuntime;
let run: string;
let bare: string;

beforeEach(async () => {
  a = createTestProject({ '.stepfast/workflows/two.yaml': workflow });
  b = createTestProject();
  bare = join(dirname(a.root), 'remote.git');
  execFileSync('git', ['init', '-q', '--bare', bare]);
  a.git('remote', 'add', 'origin', bare);
  b.git('remote', 'add', 'origin', `file://${bare}`);
  here = a.runtime();
  run = (await here.start({ workflow: 'two' }, { session: 'one' })).run ?? '';
  await here.call({ type: 'advance', output: long }, { session: 'one' });
});
afterEach(() => {
  a[Symbol.dispose]();
  b[Symbol.dispose]();
});

interface Options {
  git?: Git;
  scan?: (text: string) => string[];
}

function transferOf({ root, env, runtime }: TestProject, options: Options = {}): Transfer {
  const { project, engine } = runtime({ cwd: root });
  return createTransfer({ project, ids: engine.ids, env, home: env.HOME ?? '', ...options });
}

const say = (project: TestProject, text: string): Promise<unknown> =>
  project.runtime().call({ type: 'note', kind: 'decision', text }, { session: text }, { run });

async function push(project: TestProject, options: Options = {}): Promise<string> {
  const transfer = transferOf(project, options);
  const remote = await transfer.remote('origin');
  const outgoing = await transfer.prepare(run, remote);
  if (!['new', 'ahead', 'chosen'].includes(outgoing.is)) return outgoing.is;
  return await transfer.send(outgoing, remote);
}

async function look(project: TestProject, options: Options = {}): Promise<Incoming> {
  const transfer = transferOf(project, options);
  const [only] = await transfer.inspect([run], await transfer.remote('origin'));
  if (!only) throw new Error('nothing was found');
  return only;
}

function found(incoming: Incoming): IncomingHistory & { run: string } {
  if (incoming.is === 'bad') throw incoming.error;
  return incoming;
}

async function pull(project: TestProject, options: Options = {}): Promise<string> {
  const incoming = found(await look(project, options));
  if (incoming.is === 'new' || incoming.is === 'behind') await transferOf(project).receive(incoming);
  return incoming.is;
}

const journal = ({ root }: TestProject): string[] =>
  readFileSync(join(root, '.stepfast/runs', run, 'journal.jsonl'), 'utf8')
    .split('\n')
    .filter(Boolean);
const remoteGit = (...args: string[]): string =>
  execFileSync('git', args, { cwd: bare, encoding: 'utf8', stdio: 'pipe' }).trim();

test('[P6/10] runs go there and back as far as one history is the beginning of the other', async () => {
  expect(await push(a)).toBe('sent');
  expect(await push(a)).toBe('equal');
  expect(await pull(b)).toBe('new');
  expect(journal(b)).toEqual(journal(a));
  expect(await pull(b)).toBe('equal');
  await say(b, 'on b');
  expect(await pull(b)).toBe('ahead');
  expect(await push(b)).toBe('sent');
  expect(await push(a)).toBe('behind');
  expect(await pull(a)).toBe('behind');
  expect(journal(a)).toEqual(journal(b));
  // Each commit is the parent of the next; none contains project files.
  expect(remoteGit('rev-list', '--count', `refs/stepfast/runs/${run}`)).toBe('2');
  const files = remoteGit('ls-tree', '-r', '--name-only', `refs/stepfast/runs/${run}`).split('\n');
  expect(files).toHaveLength(3);
  expect(files.filter((name) => !/^outputs\/[0-9a-f]{64}\.txt$/.test(name))).toEqual([
    'journal.jsonl',
    'workflow.json',
  ]);
});

test('[P6/10] a push that lost the race sends nothing', async () => {
  await push(a);
  await pull(b);
  await say(a, 'on a');
  const transfer = transferOf(a);
  const remote = await transfer.remote('origin');
  const outgoing = await transfer.prepare(run, remote);
  await say(b, 'on b');
  expect(await push(b)).toBe('sent');
  const theirs = remoteGit('rev-parse', `refs/stepfast/runs/${run}`);
  expect(await transfer.send(outgoing, remote)).toBe('moved');
  expect(remoteGit('rev-parse', `refs/stepfast/runs/${run}`)).toBe(theirs);
  // Nor a push prepared before the run was there.
  expect(await transfer.send({ ...outgoing, old: undefined }, remote)).toBe('moved');
  expect(await push(a)).toBe('diverged');
});

test('[P6/10] a choice holds for exactly the history that it was made against', async () => {
  await push(a);
  await pull(b);
  await say(a, 'on a');
  await say(b, 'on b');
  await push(b);
  const incoming = found(await look(a));
  expect(incoming).toMatchObject({ is: 'diverged', here: 1, there: 1 });
  expect(incoming.fork).toMatchObject({
    common: { seq: 2 },
    here: { batches: 1, author: 'agent on a' },
    there: { batches: 1, author: 'agent on b' },
  });
  await transferOf(a).keepMine(incoming);
  await say(b, 'on b again');
  await push(b);
  expect(await push(a)).toBe('diverged');
  await transferOf(a).keepMine(found(await look(a)));
  expect(await push(a)).toBe('sent');
  const sent = remoteGit('log', '-p', '--format=%H', `refs/stepfast/runs/${run}`);
  for (const words of ['on a', 'on b', 'on b again']) expect(sent).toContain(`"${words}"`);
});

test('the last author is shown with their machine, even if the engine wrote later', async () => {
  const gated = `name: gated\ndescription: A gate\nsteps:\n  - { id: one, type: action, instructions: x, gate: [{ run: 'true' }] }\n  - { id: two, type: action, instructions: y }\n`;
  a.write({ '.stepfast/workflows/gated.yaml': gated });
  a.trust('gated');
  const runtime = a.runtime({ env: { ...a.env, STEPFAST_MACHINE: 'laptop' } });
  run = (await runtime.start({ workflow: 'gated' }, { session: 'one' })).run ?? '';
  await runtime.call({ type: 'advance', output: 'done' }, { session: 'one' }, { run });
  const transfer = transferOf(a);
  const { last } = await transfer.prepare(run, await transfer.remote('origin'));
  expect(JSON.parse(journal(a).at(-1) ?? '')).toMatchObject({ actor: { kind: 'engine' } });
  expect(last).toMatchObject({ author: 'agent one', machine: 'laptop', seq: journal(a).length });
});

describe('wherever it is cut off', () => {
  /** Fails after the nth git call has completed. */
  function failing(project: TestProject, at: number): Git {
    const git = createGit(project.root, project.env);
    let calls = 0;
    return async (args, options) => {
      calls += 1;
      const done = await git(args, options);
      if (calls >= at) throw new Error('cut off');
      return done;
    };
  }

  test('a push that is repeated ends as one that was not', async () => {
    await push(a);
    await say(a, 'more');
    let cuts = 0;
    for (let at = 1; ; at += 1) {
      const done = await push(a, { git: failing(a, at) }).catch(() => undefined);
      if (done !== undefined) break;
      cuts += 1;
      // The run is complete, either old or new.
      const there = remoteGit('show', `refs/stepfast/runs/${run}:journal.jsonl`).split('\n');
      expect([journal(a).length - 1, journal(a).length]).toContain(there.length);
    }
    expect(cuts).toBeGreaterThan(8);
    expect(['sent', 'equal']).toContain(await push(a));
    expect(remoteGit('rev-list', '--count', `refs/stepfast/runs/${run}`)).toBe('2');
  });

  test('a pull that is repeated ends as one that was not', async () => {
    await push(a);
    let cuts = 0;
    for (let at = 1; ; at += 1) {
      const done = await pull(b, { git: failing(b, at) }).catch(() => undefined);
      if (done !== undefined) break;
      cuts += 1;
      expect(existsSync(join(b.root, '.stepfast/runs'))).toBe(false);
    }
    expect(cuts).toBeGreaterThan(4);
    expect(journal(b)).toEqual(journal(a));
  });
});

test('what looks like a secret is told by its rule and its place, once, and never by itself', async () => {
  const scan = (text: string): string[] => (/hunter2|Many words/.test(text) ? ['password'] : []);
  const transfer = transferOf(a, { scan });
  const remote = await transfer.remote('origin');
  await say(a, 'the password is hunter2');
  const { secrets } = await transfer.prepare(run, remote);
  expect(secrets).toEqual([
    {
      rule: 'password',
      where: 'batch 2 (position.completed, step.completed, step.entered, position.entered)',
    },
    { rule: 'password', where: expect.stringMatching(/^batch 3 \(.*note\.added\)$/) },
    { rule: 'password', where: expect.stringMatching(/^the text sha256:[0-9a-f]{12}$/) },
  ]);
  await push(a);
  await say(a, 'harmless');
  // Batches already sent are not scanned.
  expect((await transfer.prepare(run, await transfer.remote('origin'))).secrets).toEqual([]);
});

describe('a remote that is not as it should be', () => {
  test('has names that no run has, which are told and left alone', async () => {
    await push(a);
    const head = remoteGit('rev-parse', `refs/stepfast/runs/${run}`);
    for (const odd of ['UPPER', 'deep/er', 'dot.dot', `x${'y'.repeat(128)}`])
      remoteGit('update-ref', `refs/stepfast/runs/${odd}`, head);
    const { ids, odd } = await (await transferOf(b).remote('origin')).runs();
    expect(ids).toEqual([run]);
    expect(odd).toHaveLength(4);
  });

  test('has one run under the name of another, which is refused though the rest is taken', async () => {
    await push(a);
    const other = 'two-20261115-aaaaaaaa';
    remoteGit(
      'update-ref',
      `refs/stepfast/runs/${other}`,
      remoteGit('rev-parse', `refs/stepfast/runs/${run}`),
    );
    const transfer = transferOf(b);
    const looked = await transfer.inspect([other, run], await transfer.remote('origin'));
    expect(looked).toMatchObject([
      { run: other, is: 'bad', error: { code: 'bad_history' } },
      { run, is: 'new' },
    ]);
  });

  test('has a run that git itself refuses, and the others come in', async () => {
    await push(a);
    const blob = execFileSync('git', ['hash-object', '-w', '--stdin'], {
      cwd: bare,
      input: 'x',
      encoding: 'utf8',
    });
    const entry = Buffer.concat([Buffer.from('100644 ..\0'), Buffer.from(blob.trim(), 'hex')]);
    const tree = execFileSync('git', ['hash-object', '-w', '-t', 'tree', '--literally', '--stdin'], {
      cwd: bare,
      input: entry,
      encoding: 'utf8',
    }).trim();
    const env = {
      GIT_AUTHOR_NAME: 'x',
      GIT_AUTHOR_EMAIL: 'x',
      GIT_COMMITTER_NAME: 'x',
      GIT_COMMITTER_EMAIL: 'x',
    };
    const commit = execFileSync('git', ['commit-tree', tree, '-m', 'x'], {
      cwd: bare,
      env: { ...process.env, ...env },
      encoding: 'utf8',
    }).trim();
    const evil = 'two-20261115-bbbbbbbb';
    remoteGit('update-ref', `refs/stepfast/runs/${evil}`, commit);
    const transfer = transferOf(b);
    const looked = await transfer.inspect([evil, run], await transfer.remote('origin'));
    expect(looked).toMatchObject([
      { run: evil, is: 'bad', error: { code: 'remote_failed' } },
      { run, is: 'new' },
    ]);
    expect(existsSync(join(b.root, '.stepfast/runs'))).toBe(false);
  });

  test('has a run whose suffix is taken here, which is refused', async () => {
    await push(a);
    const other = `other-20200101-${run.slice(-8)}`;
    const incoming = found(await look(b));
    mkdirSync(join(b.root, '.stepfast/runs', other), { recursive: true });
    writeFileSync(join(b.root, '.stepfast/runs', other, 'journal.jsonl'), 'x\n');
    await expect(transferOf(b).receive(incoming)).rejects.toMatchObject({ code: 'run_exists' });
    expect(readdirSync(join(b.root, '.stepfast/runs'))).toEqual([other]);
  });

  test('is not there, is unknown, or cannot be reached, and no credentials are told', async () => {
    const transfer = transferOf(b);
    await expect(transfer.remote('nowhere')).rejects.toMatchObject({ code: 'not_found' });
    await expect(transfer.remote('--upload-pack=x')).rejects.toMatchObject({ code: 'not_found' });
    for (const url of [join(bare, 'gone'), 'http://ada:hunter2@127.0.0.1:1/x.git?token=hunter2']) {
      b.git('remote', 'set-url', 'origin', url);
      const remote = await transfer.remote('origin');
      expect(remote.url).not.toContain('hunter2');
      const error: unknown = await remote.runs().catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'remote_failed', message: expect.stringContaining("'origin'") });
      expect(String(error)).not.toContain('hunter2');
    }
    b.git('remote', 'remove', 'origin');
    await expect(transfer.remote('origin')).rejects.toMatchObject({ code: 'no_remote' });
  });
});

test('no hook of the user runs, and the project is as it was', async () => {
  const mark = join(dirname(a.root), 'ran');
  for (const name of ['pre-push', 'reference-transaction', 'post-checkout', 'post-merge']) {
    const hook = join(a.root, '.git/hooks', name);
    mkdirSync(dirname(hook), { recursive: true });
    writeFileSync(hook, `#!/bin/sh\necho ${name} >> '${mark}'\nexit 1\n`);
    chmodSync(hook, 0o755);
  }
  const before = [a.git('status', '--porcelain'), a.git('branch', '-a'), a.git('rev-parse', 'HEAD')];
  expect(await push(a)).toBe('sent');
  expect(found(await look(a)).is).toBe('equal');
  expect(existsSync(mark)).toBe(false);
  expect([a.git('status', '--porcelain'), a.git('branch', '-a'), a.git('rev-parse', 'HEAD')]).toEqual(before);
  expect(existsSync(join(a.root, '.git/FETCH_HEAD'))).toBe(false);
});

test('a linked worktree sends and takes the runs of the repository', async () => {
  const linked = join(dirname(a.root), 'linked');
  a.git('worktree', 'add', '-q', linked);
  const there = { ...a, root: linked };
  expect(await push(there)).toBe('sent');
  const other = join(dirname(b.root), 'linked');
  b.git('worktree', 'add', '-q', other);
  const { project, engine } = b.runtime({ cwd: other });
  const transfer = createTransfer({ project, ids: engine.ids, env: b.env, home: b.env.HOME ?? '' });
  const [incoming] = await transfer.inspect([run], await transfer.remote('origin'));
  if (!incoming) throw new Error('nothing was found');
  await transfer.receive(found(incoming));
  expect(journal(b)).toEqual(journal(a));
  expect(b.git('status', '--porcelain', '--ignored')).not.toContain('?? .stepfast/runs');
});

test('a run of another project in the same repository is left for that one', async () => {
  const inner = { ...a, root: join(a.root, 'packages/api') };
  mkdirSync(join(inner.root, '.stepfast'), { recursive: true });
  await push(a);
  expect(await look(inner)).toMatchObject({ is: 'bad', error: { code: 'other_project' } });
  expect(found(await look(a)).is).toBe('equal');
});

test('a project without git is told what to do instead', async () => {
  const { project, engine } = here;
  const transfer = createTransfer({ project: { ...project, git: false }, ids: engine.ids, env: a.env });
  await expect(transfer.remote('origin')).rejects.toMatchObject({
    code: 'not_git',
    message: expect.stringContaining('stepfast export'),
  });
});
