/** `stepfast run` as a command: where it works, what it prints and its exit status. src/driver tests the driver. */
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createTestProject, type TestProject } from '../../testing/index.ts';

const step = (id: string, run: string): string => `name: ${id}
description: x
steps:
  - { id: only, type: run, run: "${run}" }
`;

let kit: TestProject;
beforeEach(() => {
  kit = createTestProject({
    'a.txt': 'a',
    'bin/codex': '#!/bin/sh\necho 1.0.0\n',
    '.stepfast/workflows/make.yaml': step('make', 'echo x > made.txt'),
    '.stepfast/workflows/secret.yaml': step('secret', 'echo LEVEL=1 > .env'),
    '.stepfast/workflows/fails.yaml': step('fails', 'false'),
    '.stepfast/workflows/aborts.yaml': step('aborts', 'false').replace(' }', ', on_fail: abort }'),
    '.stepfast/workflows/costs.yaml': step('costs', 'true').replace('steps:', 'budget: { cost: 1 }\nsteps:'),
  });
  chmodSync(join(kit.root, 'bin/codex'), 0o755);
  kit.git('update-index', '--chmod=+x', 'bin/codex');
  kit.git('commit', '-q', '-m', 'executable');
  for (const [key, value] of Object.entries(kit.env)) vi.stubEnv(key, value);
  for (const workflow of ['make', 'secret', 'fails', 'aborts', 'costs']) kit.trust(workflow);
});
afterEach(() => {
  vi.unstubAllEnvs();
  kit[Symbol.dispose]();
});

/** `--no-wait`, with an agent that no step needs. */
async function drive(...args: string[]) {
  const env = { ...kit.env, PATH: `${join(kit.root, 'bin')}:${kit.env.PATH}` };
  const argv = ['run', '--host', 'codex', '--no-wait', '--json', ...args];
  const { code, stdout, stderr } = await kit.run(argv, { env });
  return { code, stderr, ...(JSON.parse(stdout) as { end?: string; run: string; worktree: string }) };
}

test('works in its own worktree and names the uncommitted files that it leaves out', async () => {
  writeFileSync(join(kit.root, 'a.txt'), 'changed');
  writeFileSync(join(kit.root, 'staged.txt'), 'x');
  kit.git('add', 'staged.txt');
  const { code, end, worktree, run, stderr } = await drive('make');
  expect({ code, end }).toEqual({ code: 0, end: 'complete' });
  for (const file of ['a.txt', 'staged.txt']) expect(stderr).toContain(file);
  expect(relative(kit.root, worktree)).toMatch(/^\.\.\//);
  expect(['made.txt', 'staged.txt'].map((file) => existsSync(join(worktree, file)))).toEqual([true, false]);
  expect(existsSync(join(kit.root, 'made.txt'))).toBe(false);
  expect(kit.git('show', `stepfast/${run}/run:made.txt`)).toBe('x\n');
  expect(await drive('--run', run)).toMatchObject({ code: 0, worktree });
  expect(kit.git('worktree', 'list', '--porcelain').match(/^worktree /gm)).toHaveLength(2);
});

test('with --here works in the checkout', async () => {
  expect(await drive('make', '--here')).toMatchObject({ code: 0, worktree: kit.root, branch: 'main' });
  expect(kit.git('status', '--porcelain', '--', 'made.txt').trim()).toBe('?? made.txt');
  expect(kit.git('worktree', 'list', '--porcelain').match(/^worktree /gm)).toHaveLength(1);
});

test('is not successful if a possible secret is not on the branch', async () => {
  const left = { code: 4, end: 'complete', left: expect.stringContaining('.env') };
  const first = await drive('secret');
  expect(first).toMatchObject(left);
  expect(await drive('--run', first.run)).toMatchObject(left);
});

test('refuses a budget that the agent does not report', async () => {
  expect(await drive('costs')).toMatchObject({ code: 'bad_config' });
});

test('continues the unfinished run of the same arguments, and leaves it alone while it is paused', async () => {
  const { code, end, run, worktree } = await drive('fails');
  expect({ code, end }).toEqual({ code: 4, end: 'waits' });
  expect(await drive('fails')).toMatchObject({ code: 4, end: 'waits', run, worktree });
  expect(await kit.run(['pause', run], { env: kit.env, terminal: true })).toMatchObject({ code: 0 });
  expect(await drive('fails')).toMatchObject({ code: 4, end: 'paused', run });
});

test('is not successful if the run failed', async () => {
  expect(await drive('aborts')).toMatchObject({ code: 1, end: 'failed' });
});
