import { globSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createHookKit, type HookKit } from '../../../test/kit/hooks.ts';
import { isServed } from '../../../test/kit/is-served.ts';
import { findInformal } from './find-informal-workflow.ts';
import { describedByState } from './parse-state-file.ts';

/** The first example of seed 002, and its update. */
const design = {
  workflow: 'Feature Implementation (User Auth)',
  workflow_type: 'implementation',
  phase: { current: 1, total: 5, name: 'Design', status: 'in_progress' },
  required_reading: ['@CLAUDE/PlanWorkflow.md', '@CLAUDE/Plan/001-user-auth/PLAN.md'],
  context: { plan_number: 1, feature_name: 'user-auth' },
  key_reminders: ['Follow existing auth patterns'],
  created_at: '2025-12-09T14:30:52Z',
};
const testing = {
  ...design,
  phase: { current: 3, total: 5, name: 'Testing', status: 'in_progress' },
  key_reminders: [...design.key_reminders, 'Run integration tests after unit tests'],
};
const done = { ...design, phase: { current: 5, total: 5, name: 'Deploy', status: 'completed' } };
const folder = 'untracked/workflow-state/feature-implementation';
const file = `${folder}/state-feature-implementation-20251209_143052.json`;

let kit: HookKit;
beforeEach(() => {
  kit = createHookKit({ [file]: JSON.stringify(design, null, 2) });
});
afterEach(() => kit[Symbol.dispose]());

const write = (state: object): void => kit.project.write({ [file]: JSON.stringify(state, null, 2) });
const compacted = async () => {
  await kit.fire('PreCompact', { trigger: 'auto' });
  return (await kit.fire('SessionStart', { source: 'compact' })).context;
};
const states = async () => (await kit.runtime.engine.runs()).flatMap(({ state }) => state ?? []);

describe('[M2] a state file that an agent keeps without Stepfast', () => {
  test('is found with everything that it says, the newest first', () => {
    const other = 'untracked/workflow-state/qa-loop/state-qa-loop-20251209_150000.json';
    const qa = { ...design, workflow: 'QA Loop', workflow_type: 'qa-loop' };
    kit.project.write({ [other]: JSON.stringify(qa), 'untracked/workflow-state/x/notes.json': '{}' });
    utimesSync(join(kit.project.root, file), 1, 1);
    expect(findInformal(kit.runtime.project)).toMatchObject([
      { name: 'QA Loop', type: 'qa-loop', source: other },
      {
        name: design.workflow,
        type: 'implementation',
        phase: { current: 1, total: 5, name: 'Design' },
        reading: design.required_reading,
        reminders: design.key_reminders,
        variables: [
          { name: 'plan_number', value: '1' },
          { name: 'feature_name', value: 'user-auth' },
        ],
        complete: false,
      },
    ]);
  });

  test('gets the guidance after a compaction, and is followed to its end', async () => {
    const first = await compacted();
    for (const said of [
      ...['ACTION REQUIRED', '1/5', 'Design', ...design.required_reading],
      ...['user-auth', 'Follow existing auth patterns'],
    ])
      expect(first).toContain(said);
    write(testing);
    const second = await compacted();
    for (const said of ['3/5', 'Testing', 'Run integration tests after unit tests'])
      expect(second).toContain(said);
    expect(await states()).toMatchObject([{ status: 'running', adopted: { phase: { current: 3 } } }]);
    write(done);
    expect(await compacted()).toBe('');
    expect(await states()).toMatchObject([{ status: 'complete' }]);
  });

  test('is found by a session start where no hook saw the compaction', async () => {
    expect((await kit.fire('SessionStart', { source: 'compact' })).context).toContain('ACTION REQUIRED');
  });

  test('is offered to a new session', async () => {
    const { context } = await kit.fire('SessionStart', { session_id: 'new', source: 'startup' });
    const [{ run } = { run: '-' }] = await states();
    expect(context).toContain(run);
    expect(context).not.toContain('ACTION REQUIRED');
  });

  test('ends its run when the agent removes it', async () => {
    await compacted();
    rmSync(join(kit.project.root, folder), { recursive: true });
    expect(await compacted()).toBe('');
    expect(await states()).toMatchObject([{ status: 'complete' }]);
  });

  test.skipIf(isServed)('is state.json as the document has it', async () => {
    await compacted();
    const [{ run } = { run: '-' }] = await states();
    const path = join(kit.project.root, '.stepfast/runs', run, 'state.json');
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({
      workflow_type: 'implementation',
      phase: design.phase,
      required_reading: design.required_reading,
      context: { plan_number: '1', feature_name: 'user-auth' },
      key_reminders: design.key_reminders,
    });
  });

  test('is adopted and imported by name', async () => {
    const env = kit.project.env;
    const adopted = await kit.project.run(['adopt', '--json'], { env });
    const { run, phase } = JSON.parse(adopted.stdout);
    expect(phase).toMatchObject({ current: 1, total: 5 });
    write(testing);
    const again = await kit.project.run(['import', file, '--json'], { env });
    expect(JSON.parse(again.stdout)).toMatchObject({ run, how: 'updated', phase: { current: 3 } });
  });
});

test('[M2] what is no such file is none, and so is the mirror of a run', () => {
  for (const text of ['', '[]', '{}', '{"workflow":"x"}', JSON.stringify({ ...design, run_id: 'x-1' })])
    expect(describedByState(text)).toBeUndefined();
  expect(describedByState(JSON.stringify(done))).toMatchObject({ complete: true });
});

const corpus = process.env.STEPFAST_CORPUS;
const [seed] = corpus === undefined ? [] : globSync(join(corpus, 'seeds', '002_*.txt'));
test.skipIf(seed === undefined)('[M2] every state file that the document prints is read', () => {
  const blocks = [...readFileSync(seed ?? '', 'utf8').matchAll(/```json\n([\s\S]*?)```/g)];
  const read = blocks.map(([, text = '']) => describedByState(text));
  expect(read.length).toBeGreaterThanOrEqual(5);
  for (const each of read) expect(each).toMatchObject({ phase: { total: expect.any(Number) } });
});
