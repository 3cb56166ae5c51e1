import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { defineWorkflow } from '../definition/index.ts';
import { createTestProject, type TestProject } from '../testing/index.ts';
import {
  type Answer,
  type AnsweredStatus,
  createServiceRuntime,
  isRefused,
  openFileStore,
  openProjectRuntime,
  type WorkflowRuntime,
} from './library.ts';

const crowd = defineWorkflow({
  name: 'crowd',
  description: 'Two agents',
  loops: { build: [{ id: 'write', instructions: 'Write {task.title}.' }] },
  steps: [
    { id: 'build', type: 'loop', parallel: 2 },
    { id: 'sign', type: 'action', instructions: 'Sign it.', review: { by: 'human' } },
  ],
});

function told({ reply }: Answer): AnsweredStatus {
  if (isRefused(reply)) throw new Error(`refused: ${JSON.stringify(reply)}`);
  return reply;
}

let project: TestProject;
beforeEach(() => {
  project = createTestProject({
    '.stepfast/workflows/gated.yaml':
      'name: gated\ndescription: A gate\nsteps: [{ id: a, type: action, instructions: A., gate: [{ exists: done.txt }] }]\n',
  });
});
afterEach(() => project[Symbol.dispose]());

describe('[A16] a service', () => {
  const opened = (): WorkflowRuntime =>
    createServiceRuntime({
      store: openFileStore({ directory: join(project.root, 'data') }),
      workflows: [crowd],
    });

  test('[A16] two sessions work on one run, which continues after a restart', async () => {
    const { run = '' } = await opened().start({ workflow: 'crowd' }, { session: 'one' });
    const tasks = ['a', 'b'].map((id) => ({ id, title: `part ${id}` }));
    await opened().call(run, { type: 'setTasks', loop: 'build', tasks }, { session: 'one' });
    for (const session of ['one', 'two']) {
      const claimed = told(await opened().call(run, { type: 'claim', holder: session }, { session }));
      expect(claimed.instructions).toMatch(/^Write part [ab]\.$/);
      const briefing = await opened().briefing(run, { session });
      expect('text' in briefing && briefing.text).toContain(claimed.instructions);
      const { at = '' } = claimed;
      const advance = { type: 'advance' as const, output: `by ${session}`, at };
      await opened().call(run, advance, { session }, { key: session });
      expect(told(await opened().call(run, advance, { session }, { key: session }))).toMatchObject({
        replayed: true,
      });
    }
    expect(told(await opened().call(run, { type: 'status' }, { session: 'one' })).step).toBe('sign');
    await opened().call(run, { type: 'advance', output: 'signed' }, { session: 'one' });
    const person = { kind: 'person' as const, name: 'Ann' };
    const { engine } = opened();
    await engine.execute(run, { type: 'review', verdict: 'approve', now: Date.now(), actor: person });
    expect(await opened().runs()).toMatchObject([{ run, state: { status: 'complete' } }]);
  });

  test('[A16] mistakes are refusals', async () => {
    expect((await opened().start({ workflow: 'crowded' }, {})).reply).toMatchObject({ code: 'no_workflow' });
    expect(await opened().briefing('crowd-20260101-aaaaaaaa')).toMatchObject({ code: 'no_run' });
    expect((await opened().workflows()).map(({ name }) => name)).toContain('crowd');
  });
});

test('[A16] the runtime of a project runs gates in its own process', async () => {
  const { root: cwd, env, home } = project;
  const runtime = openProjectRuntime({ cwd, env, home });
  const { run = '' } = await runtime.start({ workflow: 'gated' }, { session: 'one' });
  const advance = () => runtime.call(run, { type: 'advance', output: 'done' }, { session: 'one' });
  expect(told(await advance())).toMatchObject({ status: 'running', failed_gates: [{ pass: false }] });
  project.write({ 'done.txt': '' });
  expect(told(await advance())).toMatchObject({ status: 'complete' });
});
