import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Gate, RequestedGate } from '../machine/index.ts';
import { gitEnvironment } from './environment.ts';
import { type GatesOutcome, type GatesRequest, runGates } from './run-gates.ts';
import { treeOf } from './tree-hash.ts';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'stepfast-gates-')));
afterAll(() => rmSync(base, { recursive: true, force: true }));
let count = 0;

const git = (cwd: string, ...args: string[]): void => {
  execFileSync('git', args, { cwd, env: gitEnvironment(process.env), stdio: 'ignore' });
};

function worktree(): string {
  count += 1;
  const root = join(base, String(count));
  mkdirSync(join(root, 'src'), { recursive: true });
  git(root, 'init', '-q');
  writeFileSync(join(root, 'src/a'), 'a');
  writeFileSync(join(root, '.gitignore'), 'calls\nignored\n');
  return root;
}

/** A command that records each of its runs. */
const noted = (name: string, command = 'true'): string => `echo ${name} >> calls; ${command}`;
const calls = (root: string): string[] =>
  existsSync(join(root, 'calls')) ? readFileSync(join(root, 'calls'), 'utf8').trim().split('\n') : [];

const run = (
  root: string,
  gates: (Gate | [Gate, RequestedGate['role']])[],
  options: Partial<GatesRequest> = {},
): Promise<GatesOutcome> =>
  runGates({
    gates: gates.map((each) => {
      const [gate, role] = Array.isArray(each) ? each : [each, 'gate' as const];
      return { gate, role, from: 'step' };
    }),
    worktree: root,
    env: process.env,
    logDirectory: join(base, 'logs', String(count)),
    condition: () => ({ pass: true }),
    isRead: () => 'read',
    ...options,
  });

describe('each kind of gate', () => {
  test('a command leaves exit code, duration, output, digest and tree', async () => {
    const root = worktree();
    const { receipts, tree, unstable } = await run(root, [{ run: 'echo fine' }, { run: 'echo bad; exit 4' }]);
    expect(receipts).toEqual([
      {
        gate: 0,
        pass: true,
        exit: 0,
        ms: expect.any(Number),
        tail: 'fine\n',
        digest: expect.stringMatching(/^sha256:/),
        tree,
      },
      {
        gate: 1,
        pass: false,
        exit: 4,
        ms: expect.any(Number),
        tail: 'bad\n',
        digest: expect.stringMatching(/^sha256:/),
        tree,
      },
    ]);
    expect(unstable).toBeUndefined();
    expect(tree).toBe((await treeOf({ worktree: root })).hash);
  });

  test('a command that times out or is killed by a signal is red and says so', async () => {
    const [late] = (await run(worktree(), [{ run: 'sleep 600', timeout: 0.3 }])).receipts;
    expect(late).toMatchObject({ pass: false, tail: expect.stringContaining('0.3 s') });
    const [killed] = (await run(worktree(), [{ run: 'kill -9 $$' }])).receipts;
    expect(killed).toMatchObject({ pass: false, tail: '[killed by SIGKILL]' });
    expect(killed).not.toHaveProperty('exit');
  });

  test('a file must exist inside the worktree', async () => {
    const root = worktree();
    writeFileSync(join(base, 'outside'), '');
    symlinkSync(join(base, 'outside'), join(root, 'out'));
    symlinkSync('nothing', join(root, 'dangling'));
    symlinkSync('src', join(root, 'in'));
    const paths = ['src/a', 'src', 'in/a', join(root, 'src/a'), '/project/src/a'];
    const good = await run(
      root,
      paths.map((exists) => ({ exists })),
      { root: '/project' },
    );
    expect(good.receipts.map(({ pass }) => pass)).toEqual(paths.map(() => true));
    const bad = await run(
      root,
      ['nowhere', '../outside', join(base, 'outside'), 'out', 'dangling', '/project/x'].map((exists) => ({
        exists,
      })),
      { root: '/project' },
    );
    expect(bad.receipts.map(({ pass, tail }) => [pass, tail])).toEqual([
      [false, expect.stringContaining('nowhere does not exist')],
      [false, expect.stringContaining('is outside the worktree')],
      [false, expect.stringContaining('is outside the worktree')],
      [false, expect.stringContaining('symbolic link')],
      [false, expect.stringContaining('dangling symbolic link')],
      [false, expect.stringContaining('/project/x does not exist')],
    ]);
  });

  test('the caller evaluates conditions and required reading', async () => {
    const { receipts } = await run(
      worktree(),
      [
        { condition: 'a' },
        { condition: 'b' },
        { read: ['read'] },
        { read: ['read', 'unread', 'changed', 'missing'] },
        {},
      ],
      {
        condition: async (expression) =>
          expression === 'a' ? { pass: true } : { pass: false, why: 'b is false' },
        isRead: (path) => (path === 'unread' || path === 'changed' || path === 'missing' ? path : 'read'),
      },
    );
    expect(receipts.map(({ pass }) => pass)).toEqual([true, false, true, false, false]);
    expect(receipts[1]?.tail).toBe('b is false');
    expect(receipts[3]?.tail?.split('\n').map((line) => line.split(':')[0])).toEqual([
      'unread was not read',
      'changed changed since it was read',
      'missing does not exist',
      expect.anything(),
    ]);
  });
});

describe('the list of gates', () => {
  test('a red command ends the list, red file checks do not', async () => {
    const root = worktree();
    const { receipts } = await run(root, [
      { exists: 'nowhere' },
      { run: noted('one', 'false') },
      { run: noted('two') },
      [{ run: noted('until') }, 'until'],
    ]);
    expect(calls(root)).toEqual(['one']);
    expect(receipts.map(({ pass }) => pass)).toEqual([false, false, false, false]);
    expect(receipts[2]?.tail).toBe(`not run: ${noted('one', 'false')} failed`);
  });

  test('a red until ends nothing, a red rerun ends only the other reruns', async () => {
    const root = worktree();
    const { receipts } = await run(root, [
      [{ run: noted('until', 'false') }, 'until'],
      [{ run: noted('rerun', 'false') }, 'rerun'],
      [{ run: noted('again') }, 'rerun'],
      { run: noted('gate') },
    ]);
    expect(calls(root)).toEqual(['until', 'rerun', 'gate']);
    expect(receipts.map(({ pass }) => pass)).toEqual([false, false, false, true]);
  });

  test('an abort kills the running command and skips the rest', async () => {
    const root = worktree();
    const stop = new AbortController();
    const gates = [{ run: noted('one', 'sleep 600') }, { run: noted('two') }, { exists: 'src' }];
    const begun = setInterval(() => calls(root).length > 0 && stop.abort(), 50);
    const { receipts } = await run(root, gates, { signal: stop.signal });
    clearInterval(begun);
    expect(receipts.map(({ pass }) => pass)).toEqual([false, false, false]);
    expect(receipts[2]?.tail).toBe('not run: the gates were stopped');
    expect(calls(root)).toEqual(['one']);
  });
});

describe('reused passes', () => {
  test('[P3/13] the same command on the same tree is not run again; another command, tree or a failure is', async () => {
    const root = worktree();
    const gate = { run: noted('test') };
    const first = await run(root, [gate]);
    const passed = first.receipts.map(({ tree }) => ({
      run: gate.run,
      ...(tree === undefined ? {} : { tree }),
    }));
    const again = await run(root, [gate, { run: noted('other') }], { passed });
    expect(again.receipts[0]).toEqual({ gate: 0, pass: true, reused: true, tree: first.tree });
    expect(again.receipts[1]?.reused).toBeUndefined();
    expect(calls(root)).toEqual(['test', 'other']);
    writeFileSync(join(root, 'src/a'), 'changed');
    expect((await run(root, [gate], { passed })).receipts[0]?.reused).toBeUndefined();
    expect(calls(root)).toEqual(['test', 'other', 'test']);
  });

  test('[P3/13] a gate with paths is reused while those are the same', async () => {
    const root = worktree();
    const gate = { run: noted('test'), paths: ['src'] };
    const [receipt] = (await run(root, [gate])).receipts;
    const passed = [{ run: gate.run, tree: receipt?.tree ?? '' }];
    writeFileSync(join(root, 'README'), 'changed');
    const second = await run(root, [gate], { passed });
    expect(second.receipts[0]).toMatchObject({ reused: true, tree: receipt?.tree });
    expect(second.tree).not.toBe(receipt?.tree);
    writeFileSync(join(root, 'src/a'), 'changed');
    expect((await run(root, [gate], { passed })).receipts[0]?.reused).toBeUndefined();
  });

  test('[P3/16] nothing is reused without a tree', async () => {
    const root = worktree();
    const options = { treeBoundMs: -1, passed: [{ run: noted('test') }, { run: noted('test'), tree: '' }] };
    const { receipts, tree } = await run(root, [{ run: noted('test') }], options);
    expect(receipts[0]).toMatchObject({ pass: true });
    expect(receipts[0]).not.toHaveProperty('reused');
    expect(receipts[0]).not.toHaveProperty('tree');
    expect(tree).toBeUndefined();
  });
});

describe('gates that write', () => {
  test('[P3/14] a command that changes files once is run once more, and its second run counts', async () => {
    const root = worktree();
    const { receipts, tree, unstable } = await run(root, [
      { run: noted('format', 'echo formatted > src/a') },
      { run: noted('test') },
    ]);
    expect(calls(root)).toEqual(['format', 'test', 'format', 'test']);
    expect(receipts.map((receipt) => [receipt.pass, receipt.tree])).toEqual([
      [true, tree],
      [true, tree],
    ]);
    expect(unstable).toBeUndefined();
  });

  test('[P3/14] a command that changes files each time is unstable, and the files are named', async () => {
    const root = worktree();
    const { receipts, unstable, tree } = await run(root, [
      { run: noted('log', 'echo x >> src/log; date +%N > stamp') },
    ]);
    expect(calls(root)).toEqual(['log', 'log']);
    expect(unstable).toEqual(['src/log', 'stamp']);
    expect(receipts[0]).not.toHaveProperty('tree');
    expect(tree).toBe((await treeOf({ worktree: root })).hash);
  });

  test('[P3/14] ignored files and declared writes do not count as changes, also for the other gates', async () => {
    const root = worktree();
    const write = {
      run: noted('log', 'echo x >> ignored; echo x >> report.xml; mkdir -p out; echo x >> out/y'),
      writes: ['report.xml', 'out'],
    };
    const { unstable, tree } = await run(root, [write, { run: noted('test') }]);
    expect(calls(root)).toEqual(['log', 'test']);
    expect(unstable).toBeUndefined();
    expect(tree).toBe((await treeOf({ worktree: root, exclude: ['report.xml', 'out'] })).hash);
  });

  test('[P3/14] a red list is reported at once, even if it changed files', async () => {
    const root = worktree();
    const { receipts, unstable } = await run(root, [{ run: noted('test', 'echo x >> src/a; false') }]);
    expect(calls(root)).toEqual(['test']);
    expect(receipts[0]).toMatchObject({ pass: false });
    expect(unstable).toBeUndefined();
  });

  test('a red list during which files changed runs once more where that is asked for', async () => {
    const root = worktree();
    const fixed = noted('test', 'test -f src/fixed || { touch src/fixed; false; }');
    const { receipts, unstable } = await run(root, [{ run: fixed }], { redAgain: true });
    expect(calls(root)).toEqual(['test', 'test']);
    expect(receipts[0]).toMatchObject({ pass: true });
    expect(unstable).toBeUndefined();
  });

  test('[P3/14] a second run does not repeat a gate whose own paths did not change', async () => {
    const root = worktree();
    await run(root, [{ run: noted('test'), paths: ['src'] }, { run: noted('docs', 'echo same > README') }]);
    expect(calls(root)).toEqual(['test', 'docs', 'docs']);
  });
});

describe('[L/run] the command of a run step', () => {
  const step = (command: string): [Gate, RequestedGate['role']] => [{ run: command }, 'run'];

  test('its standard output is the output, without what it says on the error output', async () => {
    const outcome = await run(worktree(), [step('echo one; echo noise >&2; echo two')]);
    expect(outcome).toMatchObject({ output: 'one\ntwo', receipts: [{ gate: 0, pass: true, exit: 0 }] });
    expect(outcome.receipts[0]?.tail).toContain('noise');
  });

  test('runs once, whatever it changes, and its gates see what it left', async () => {
    const root = worktree();
    const outcome = await run(root, [step(noted('step', 'echo new > src/b')), { exists: 'src/b' }]);
    expect(outcome.receipts.map(({ gate, pass }) => [gate, pass])).toEqual([
      [0, true],
      [1, true],
    ]);
    expect(calls(root)).toEqual(['step']);
  });

  test('red: its gates do not run', async () => {
    const root = worktree();
    const { receipts, output } = await run(root, [step('exit 3'), { run: noted('gate') }]);
    expect({ receipts, output }).toMatchObject({
      output: undefined,
      receipts: [
        { pass: false, exit: 3 },
        { gate: 1, pass: false },
      ],
    });
    expect(calls(root)).toEqual([]);
  });

  test('a pass is never reused', async () => {
    const root = worktree();
    const { tree } = await run(root, [{ run: 'true' }]);
    const passed = [{ run: noted('step'), ...(tree === undefined ? {} : { tree }) }];
    await run(root, [step(noted('step'))], { passed });
    expect(calls(root)).toEqual(['step']);
  });

  test('[L/output] json must parse, and no output is longer than 256 KB', async () => {
    const root = worktree();
    const json = { format: { output: 'json' as const } };
    expect(await run(root, [step(`echo '{"a": [1]}'`)], json)).toMatchObject({ output: '{"a": [1]}' });
    expect((await run(root, [step('echo nonsense')], json)).receipts).toMatchObject([
      { pass: false, exit: 0 },
    ]);
    const format = { output: 'json' as const, schema: { required: ['b'] } };
    expect((await run(root, [step(`echo '{"a": 1}'`)], { format })).receipts).toMatchObject([
      { pass: false, exit: 0 },
    ]);
    const long = await run(root, [step('head -c 262145 /dev/zero | tr "\\0" x')]);
    expect(long.receipts).toMatchObject([{ pass: false }]);
    expect((await run(root, [step('head -c 262144 /dev/zero | tr "\\0" x')])).output).toHaveLength(262144);
  });
});

test('[L/baseline] before the work every gate runs, once, whatever it says and whatever files change', async () => {
  const root = worktree();
  const gates = [noted('one', 'exit 3'), noted('two', 'date +%s%N > stamp')].map(
    (command): [Gate, RequestedGate['role']] => [{ run: command, baseline: true }, 'baseline'],
  );
  const { receipts, unstable } = await run(root, gates);
  expect(receipts).toMatchObject([
    { pass: false, exit: 3 },
    { pass: true, exit: 0 },
  ]);
  expect({ calls: calls(root), unstable }).toEqual({ calls: ['one', 'two'], unstable: undefined });
});
