import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { told } from '../../test/kit/told.ts';
import { createTestProject, type TestProject } from '../testing/index.ts';
import type { Answer, CallerIdentity, LocalRuntime } from './index.ts';

const agent: CallerIdentity = { session: 's1' };
const person: CallerIdentity = { actor: { kind: 'person' } };

let project: TestProject;
let runtime: LocalRuntime;

function workflow(gates: string, more = ''): string {
  return `name: checked
description: One step behind gates
steps:
  - id: do
    type: action
    instructions: Do it.
    gate: ${gates}
    ${more}
  - { id: after, type: action, instructions: Tell. }
`;
}

async function started(yaml: string): Promise<string> {
  project.write({ '.stepfast/workflows/checked.yaml': yaml });
  project.git('add', '-A');
  project.git('commit', '-q', '-m', 'workflow');
  project.trust('checked');
  runtime = project.runtime();
  return told(await runtime.start({ workflow: 'checked' }, agent)).at ?? '';
}

const advance = (at: string, options = {}): Promise<Answer> =>
  runtime.call({ type: 'advance', output: 'done', at }, agent, options);

/** The process that runs the gates, once it has reported. */
async function runnerOf(run: string): Promise<number> {
  const pid = async () => (await runtime.engine.view(run))?.state.cursors.do?.checking?.runner?.pid;
  await expect.poll(pid).toBeGreaterThan(0);
  return (await pid()) ?? 0;
}

beforeEach(() => {
  project = createTestProject();
});
afterEach(() => project[Symbol.dispose]());

describe('gates that run in a process of their own', () => {
  test('[P3/1] an advance runs the gates and answers with what they led to', async () => {
    const at = await started(workflow('[{ run: "echo fine > ran.log; true", writes: [ran.log] }]'));
    const after = told(await advance(at));
    expect(after).toMatchObject({ step: 'after', instructions: 'Tell.' });
    expect(after.replayed).toBeUndefined();
    const view = await runtime.engine.view(after.run);
    const [receipt] = view?.state.outputs.do?.receipts ?? [];
    expect(receipt).toMatchObject({ pass: true, exit: 0 });
    expect(receipt?.tree).toMatch(/^git:[0-9a-f]{40}$/);
  });

  test('[P3/5] [pain 12] a red gate leaves the position open and shows the end of its output', async () => {
    const at = await started(workflow('[{ run: "echo 3 failing; exit 1" }]'));
    const red = told(await advance(at));
    expect(red).toMatchObject({ step: 'do', at });
    expect(red.failed_gates).toMatchObject([{ exit: 1, tail: '3 failing\n', pass: false }]);
  });

  test('[P3/6] a runner that was killed is noticed and not counted', async () => {
    const at = await started(workflow('[{ run: "sleep 30" }]'));
    const waiting = told(await advance(at, { waitMs: 0 }));
    const pid = await runnerOf(waiting.run);
    process.kill(pid, 'SIGKILL');
    const interrupted = told(await advance(at));
    expect(interrupted).toMatchObject({ step: 'do', at, interrupted: true });
    const after = await runtime.engine.view(waiting.run);
    expect(after?.state.cursors.do).toMatchObject({ reds: 0 });
    expect(after?.state.cursors.do?.checking).toBeUndefined();
  });

  test('[P3/7] a cancelled run stops its gates with everything that they started', async () => {
    const at = await started(workflow('[{ run: "sleep 31 & sleep 32; wait" }]'));
    const { run } = told(await advance(at, { waitMs: 0 }));
    const pid = await runnerOf(run);
    await runtime.call({ type: 'cancel' }, person);
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  test('[P3/11] nothing looks at the tree before gates are asked for', async () => {
    const at = await started(workflow('[{ run: "true" }]'));
    const { run } = told(await runtime.call({ type: 'status', at }, agent));
    await runtime.call({ type: 'note', kind: 'decision', text: 'x' }, agent);
    const events = (await runtime.engine.entries(run)).flatMap((entry) => entry.events);
    expect(JSON.stringify(events)).not.toContain('git:');
  });

  test('[P3/12] the tree of a receipt is that of the end of the gates, which later edits do not change', async () => {
    const at = await started(workflow('[{ run: "true" }]'));
    writeFileSync(join(project.root, 'new.txt'), 'before');
    const { run } = told(await advance(at));
    const tree = (await runtime.engine.view(run))?.state.outputs.do?.tree;
    writeFileSync(join(project.root, 'new.txt'), 'after');
    await runtime.call({ type: 'advance', output: 'told' }, agent);
    expect((await runtime.engine.view(run))?.state.outputs.do?.tree).toBe(tree);
  });

  test('[P3/14] gates that go on changing the tree are refused with the names of the files', async () => {
    const at = await started(workflow('[{ run: "date +%N >> changing.txt" }]'));
    expect(told(await advance(at)).unstable_files).toEqual(['changing.txt']);
  });

  test('[P3/15] [pain 19] an approval of a tree that has changed runs the gates again first', async () => {
    const at = await started(workflow('[{ run: "test ! -e broken" }]', 'review: { by: human }'));
    expect(told(await advance(at))).toMatchObject({ status: 'waiting', waiting: { for: 'review' } });
    project.write({ broken: 'made after the gates had passed' });
    const approve = () => runtime.call({ type: 'review', verdict: 'approve', at }, person);
    expect(told(await approve())).toMatchObject({ step: 'do' });
    rmSync(join(project.root, 'broken'));
    const view = await runtime.engine.view(told(await runtime.call({ type: 'status' }, agent)).run);
    expect(view?.state.outputs.do).toBeUndefined();
  });

  test('exists, condition and read are checked without a command', async () => {
    const gates = '[{ exists: PLAN.md }, { condition: "outputs.do == \'done\'" }, { read: [docs/rules.md] }]';
    const at = await started(workflow(gates));
    project.write({ 'docs/rules.md': 'Be kind.' });
    expect(told(await advance(at)).failed_gates).toMatchObject([
      { what: 'PLAN.md' },
      { what: 'docs/rules.md' },
    ]);
    project.write({ 'PLAN.md': 'the plan' });
    await runtime.call({ type: 'note', kind: 'reading', text: '@docs/rules.md' }, agent);
    project.write({ 'docs/rules.md': 'Be kind and quick.' });
    expect(told(await advance(at)).failed_gates).toMatchObject([{ what: 'docs/rules.md' }]);
    await runtime.call({ type: 'note', kind: 'reading', text: 'docs/rules.md' }, agent);
    expect(told(await advance(at))).toMatchObject({ step: 'after' });
  });
});

describe('trust', () => {
  test('a workflow with untrusted commands does not start, and the refusal says how to trust it', async () => {
    project.write({ '.stepfast/workflows/checked.yaml': workflow('[{ run: "touch pwned" }]') });
    const { reply } = await project.runtime().start({ workflow: 'checked' }, agent);
    expect(reply).toMatchObject({
      code: 'untrusted',
      params: { name: 'checked', grants: [{ run: 'touch pwned' }] },
    });
  });

  test('a run whose trust was taken back runs nothing more', async () => {
    const at = await started(workflow('[{ run: "touch pwned" }]'));
    for (const record of runtime.trust.list()) runtime.trust.take(record);
    expect((await advance(at)).reply).toMatchObject({ code: 'untrusted', at });
    expect(existsSync(join(project.root, 'pwned'))).toBe(false);
  });

  test('a workflow that is edited after the start changes nothing in the run', async () => {
    const at = await started(workflow('[{ run: "true" }]'));
    project.write({ '.stepfast/workflows/checked.yaml': workflow('[{ run: "touch pwned" }]') });
    expect(told(await advance(at)).step).toBe('after');
    expect(existsSync(join(project.root, 'pwned'))).toBe(false);
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
