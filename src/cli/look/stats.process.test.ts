import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createHookKit, type HookKit } from '../../../test/kit/hooks.ts';
import { createFakeIo } from '../../testing/fake-io.ts';
import { run as runCli } from '../run.ts';

const workflow = `name: w
description: x
steps:
  - { id: plan, type: action, instructions: x, gate: [{ exists: PLAN.md }] }
  - { id: build, type: action, instructions: y, review: { by: human } }
`;

let kit: HookKit;

beforeEach(() => {
  kit = createHookKit({ '.stepfast/workflows/w.yaml': workflow });
});
afterEach(() => kit[Symbol.dispose]());

async function stats(...args: string[]): Promise<{ stdout: string; stderr: string }> {
  const fake = createFakeIo({
    cwd: kit.project.root,
    home: kit.project.env.HOME ?? '',
    env: kit.project.env,
  });
  expect(await runCli(['stats', ...args], fake.io)).toBe(0);
  return { stdout: fake.stdout(), stderr: fake.stderr() };
}
const counted = async (): Promise<Record<string, unknown>> => JSON.parse((await stats('--json')).stdout);
const liar = { session: 'mcp-1' };

test('a new project has no statistics', async () => {
  const { stdout, stderr } = await stats();
  expect(stdout).toBe('');
  expect(stderr).not.toBe('');
  expect(await counted()).toMatchObject({ since: null, runs: { all: 0 }, false_done: 0 });
});

test('zero counts are listed on one line instead of rows', async () => {
  await kit.start();
  const { stdout } = await stats();
  expect(stdout).toMatch(/^Since \d{4}-\d\d-\d\d {2}1 run, 1 live\n/);
  expect(stdout).toContain('None so far: ');
  expect(stdout).not.toMatch(/^ +0 /m);
});

test('false claims, skipped steps and self-approvals are counted', async () => {
  const { run, at } = await kit.start();
  const advance = (output: string, handle: string) =>
    kit.runtime.call({ type: 'advance', output, at: handle }, liar, { run });
  await advance('Done!', at);
  await advance('Built.', at.replace(':plan#', ':build#'));
  kit.project.write({ 'PLAN.md': '' });
  const next = await kit.call(run, { type: 'advance', output: 'Planned.', at });
  await advance('Built.', next);
  await kit.runtime.call({ type: 'review', verdict: 'approve', at: next }, liar, { run });
  const person = { actor: { kind: 'person', name: 'ann' } } as const;
  await kit.runtime.call({ type: 'review', verdict: 'approve', at: next }, person, { run });
  expect(await counted()).toMatchObject({
    runs: { all: 1, live: 0, complete: 1 },
    false_done: 1,
    skips_refused: 1,
    verdicts_refused: 1,
    completed: 2,
    verified: 1,
    approvals: 1,
    rejections: 0,
  });
  const { stdout } = await stats();
  expect(stdout).toContain('  1  false claim');
  expect(stdout).toContain('  1  attempt to skip or repeat a step refused');
  expect(stdout).toContain('  1  decision by people, 1 approval');
});

test('compactions, injections, repairs and proofs are counted from hooks', async () => {
  const { run, at } = await kit.start();
  await kit.called('a', { run, at });
  const { context } = await kit.fire('SessionStart', { source: 'compact' });
  kit.accept(context);
  await kit.fire('UserPromptSubmit', { prompt: 'go on' });
  expect(await counted()).toMatchObject({ compactions: 1, injected: 1, proven: 1, repaired: 0 });
  expect((await stats()).stdout).toContain('  1  briefing injected, 1 confirmed');
});

test('blocked stops, denied tools and repairs are read from the hook log, and torn lines are skipped', async () => {
  const { run } = await kit.start();
  const folder = join(kit.project.root, '.stepfast', 'sessions', 'hooks');
  mkdirSync(folder, { recursive: true });
  const entries = [
    { what: 'held', run: '', session: 'a', why: 'hold: red' },
    { what: 'held', run, session: 'a', why: 'in the journal' },
    { what: 'denied', run, session: 'a', tool: 'Edit' },
    { what: 'repaired', run, session: 'a', briefing: 'b-1', why: 'cut' },
    { what: 'repaired', run, session: 'a', briefing: 'b-2', why: 'missing' },
    { what: 'error', event: 'Stop', message: 'x' },
  ];
  for (const entry of entries)
    appendFileSync(join(folder, 'log.jsonl'), `${JSON.stringify({ now: 5, ...entry })}\n`);
  appendFileSync(join(folder, 'log.jsonl'), '{"now":');
  expect(await counted()).toMatchObject({
    since: '1970-01-01T00:00:00.005Z',
    stops_held: 1,
    tools_denied: 1,
    repaired: 2,
    cut: 1,
    hook_errors: 1,
  });
  expect((await stats()).stdout).toContain('  2  undelivered briefings repaired, 1 truncated');
});

test('[L/baseline] a gate that is red before the work is no false claim', async () => {
  kit.project.write({
    '.stepfast/workflows/b.yaml':
      'name: b\ndescription: x\nsteps: [{ id: fix, type: action, instructions: x, gate: [{ run: test -e done.txt, baseline: true }] }]\n',
  });
  kit.project.trust('b');
  const { run = '' } = await kit.runtime.start({ workflow: 'b' }, {});
  const { reply } = await kit.runtime.call({ type: 'status' }, {}, { run, waitMs: 60_000 });
  expect(reply).toMatchObject({ baseline: [{ pass: false }] });
  expect(await counted()).toMatchObject({ false_done: 0 });
});
