import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Gate } from '../machine/index.ts';
import { gitEnvironment } from './environment.ts';
import { type GatesRequest, passOf, runGates } from './run-gates.ts';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'stepfast-expected-')));
afterAll(() => rmSync(base, { recursive: true, force: true }));

function worktree(): string {
  const root = mkdtempSync(join(base, 'tree-'));
  execFileSync('git', ['init', '-q'], { cwd: root, env: gitEnvironment(process.env) });
  writeFileSync(join(root, '.gitignore'), 'calls\n');
  return root;
}

const run = async (root: string, gates: Gate[], options: Partial<GatesRequest> = {}) =>
  (
    await runGates({
      gates: gates.map((gate) => ({ gate, role: 'gate', from: 'step' })),
      worktree: root,
      env: process.env,
      logDirectory: join(base, 'logs'),
      condition: () => ({ pass: true }),
      isRead: () => 'read',
      ...options,
    })
  ).receipts;

const one = async (gate: Gate) => (await run(worktree(), [gate]))[0];

describe('[L/expect] a command that is expected to fail', () => {
  const toFail = { expect: 'fail' } as const;

  test('is green with its exit and output if it fails, and red with the reason if it does not', async () => {
    expect(await one({ run: 'echo bad; exit 3', ...toFail })).toMatchObject({
      pass: true,
      exit: 3,
      tail: 'bad\n',
    });
    expect(await one({ run: 'echo fine', ...toFail })).toMatchObject({
      pass: false,
      exit: 0,
      tail: 'fine\n[expected to fail, but it exited with 0]',
    });
  });

  test.each([
    ['times out', { run: 'sleep 600', timeout: 0.3 }],
    ['times out and then fails by itself', { run: 'trap "exit 3" TERM; sleep 600 & wait', timeout: 0.3 }],
    ['is killed', { run: 'kill -9 $$' }],
    ['does not exist', { run: 'stepfast-no-such-command' }],
    ['is no program', { run: './.gitignore' }],
  ])('is red if it %s', async (_, gate) => {
    expect(await one({ ...gate, ...toFail })).toMatchObject({ pass: false });
  });

  test('is red if the gates are stopped', async () => {
    const stop = new AbortController();
    const ran = run(worktree(), [{ run: 'echo on; sleep 600', ...toFail }], { signal: stop.signal });
    setTimeout(() => stop.abort(), 200);
    expect((await ran)[0]).toMatchObject({ pass: false });
  });

  test('never counts as a pass of the same command, nor the reverse, nor with another text', async () => {
    const root = worktree();
    const command = 'echo x >> calls; echo out; exit $(cat exit)';
    const checks: Gate[] = [
      { run: command },
      { run: command, ...toFail },
      { run: command, contains: 'out' },
      { run: command, ...toFail, contains: 'out' },
      { run: command, ...toFail, contains: 'ou' },
    ];
    for (const exit of ['0', '1']) {
      writeFileSync(join(root, 'exit'), exit);
      for (const [index, gate] of checks.entries()) {
        const [receipt] = await run(root, [gate]);
        expect(receipt?.pass).toBe((exit === '0') === (gate.expect === undefined));
        // As if all had passed on this tree.
        const passed = passOf(gate, receipt?.tree);
        for (const [other, asked] of checks.entries())
          expect([other, (await run(root, [asked], { passed }))[0]?.reused]).toEqual([
            other,
            other === index ? true : undefined,
          ]);
      }
    }
  });

  test('ends the list if it is red, with what was expected', async () => {
    const receipts = await run(worktree(), [{ run: 'true', ...toFail }, { run: 'true' }]);
    expect(receipts[1]).toMatchObject({ pass: false, tail: 'not run: true (expected to fail) failed' });
  });
});

describe('[L/contains] the text of an output', () => {
  test('is needed besides exit 0', async () => {
    expect(await one({ run: 'echo 12 tests', contains: '12 tests' })).toMatchObject({ pass: true, exit: 0 });
    expect(await one({ run: 'echo 0 tests', contains: '12 tests' })).toMatchObject({
      pass: false,
      exit: 0,
      tail: '0 tests\n[not as expected: the output does not contain "12 tests"]',
    });
    expect(await one({ run: 'echo 12 tests; exit 2', contains: '12 tests' })).toMatchObject({
      pass: false,
      exit: 2,
      tail: '12 tests\n',
    });
  });

  test('is needed besides a failure that is expected', async () => {
    const gate = { expect: 'fail', contains: 'AssertionError' } as const;
    expect(await one({ run: 'echo AssertionError: 1 >&2; exit 1', ...gate })).toMatchObject({ pass: true });
    expect(await one({ run: 'echo SyntaxError; exit 1', ...gate })).toMatchObject({
      pass: false,
      exit: 1,
      tail: expect.stringContaining('does not contain "AssertionError"'),
    });
    expect(await one({ run: 'echo AssertionError', ...gate })).toMatchObject({ pass: false, exit: 0 });
  });

  test('is searched in all of a large output, not only in what is kept', async () => {
    const noise = 'head -c 3000000 /dev/zero | tr "\\0" "x" | fold -w 100';
    const gate = { run: `${noise}; echo needle; ${noise}`, contains: 'needle' };
    const receipt = await one(gate);
    expect(receipt).toMatchObject({ pass: true });
    expect(receipt?.tail).not.toContain('needle');
    expect(readFileSync(join(base, 'logs/gate-1.log'), 'utf8')).not.toContain('needle');
  });
});
