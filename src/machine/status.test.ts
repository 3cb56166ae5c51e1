import { describe, expect, test } from 'vitest';
import { action, loop, Run, ralph, workflow } from '../../test/kit/run.ts';
import { respond } from './respond.ts';
import { instructionsFor, statusOf } from './status.ts';

const definition = workflow(
  [
    action('plan', {
      agent: 'planner',
      instructions: 'Plan {summary} in {project_root}, {run_id}, {nonsense}, {iteration}|',
    }),
    loop('build', { agent: 'coder', instructions: 'List the tasks.\n' }),
    ralph('polish', 3, { instructions: 'Round {iteration} after {outputs.plan}, {outputs.nothing}|' }),
    { id: 'once', type: 'ralph', instructions: 'Once {task.title}|{task.nope}|{plan_id}|' },
    action('end', { review: { by: 'human' } }),
  ],
  {
    loops: {
      build: [
        { id: 'code', instructions: 'Code {task.id}: {task.title} {task.description}|' },
        { id: 'check', instructions: 'Check', agent: 'reviewer' },
      ],
    },
  },
);

const run = 'demo-20261115-k3f9x2ab';
const started = (): Run => {
  const all = new Run(definition, { start: false });
  all.send({ type: 'start', run, summary: 'a thing' });
  return all;
};

describe('a status', () => {
  test('of an action names step, phase, agent and the next action', () => {
    expect(started().status()).toEqual({
      run,
      status: 'running',
      at: 'k3f9x2ab:plan#1',
      step: 'plan',
      stepType: 'action',
      phase: { current: 1, total: 5, name: 'plan', status: 'in_progress' },
      agent: 'planner',
      delegate: true,
      progress: { currentStep: 1, totalSteps: 5 },
      instructions: `Plan a thing in {project_root}, ${run}, {nonsense}, |`,
      action: {
        do: 'work',
        at: 'k3f9x2ab:plan#1',
        step: 'plan',
        finish: 'advance',
        delegate: { agent: 'planner', cannot: [] },
      },
    });
  });

  test('of a loop, before and after its tasks are set', () => {
    const all = started();
    expect(all.advance('planned')).toEqual({
      run,
      status: 'running',
      at: 'k3f9x2ab:build#1',
      step: 'build',
      stepType: 'loop',
      phase: { current: 2, total: 5, name: 'build', status: 'in_progress' },
      agent: 'coder',
      delegate: true,
      progress: { currentStep: 2, totalSteps: 5 },
      instructions: 'List the tasks.\n',
      action: { do: 'work', at: 'k3f9x2ab:build#1', step: 'build', finish: 'set_tasks' },
    });
    const tasks = [
      { id: 'a', title: 'First', description: 'with care' },
      { id: 'b', title: 'Second' },
    ];
    expect(all.send({ type: 'setTasks', loop: 'build', tasks })).toEqual({
      run,
      status: 'running',
      at: 'k3f9x2ab:build/a/code#1',
      step: 'build',
      stepType: 'loop',
      phase: { current: 2, total: 5, name: 'build', status: 'in_progress' },
      task: { index: 0, id: 'a', title: 'First', total: 2 },
      subStep: 'code',
      subStepIndex: 0,
      totalSubSteps: 2,
      agent: 'coder',
      delegate: true,
      progress: { currentStep: 2, totalSteps: 5, completedTasks: 0, totalTasks: 2 },
      instructions: 'Code a: First with care|',
      action: {
        do: 'work',
        at: 'k3f9x2ab:build/a/code#1',
        step: 'build',
        finish: 'advance',
        delegate: { agent: 'coder', cannot: [] },
      },
    });
    all.advance('coded');
    expect(all.advance('checked')).toMatchObject({
      task: { index: 1, id: 'b' },
      instructions: 'Code b: Second |',
      progress: { completedTasks: 1 },
    });
    expect(all.advance('coded b')).toMatchObject({ agent: 'reviewer', subStep: 'check', subStepIndex: 1 });
  });

  test('of a ralph step, a review and the end', () => {
    const all = started();
    all.advance('the plan');
    all.person({ type: 'setTasks', loop: 'build', tasks: [] });
    expect(all.status()).toEqual({
      run,
      status: 'running',
      at: 'k3f9x2ab:polish/1#1',
      step: 'polish',
      stepType: 'ralph',
      phase: { current: 3, total: 5, name: 'polish', status: 'in_progress' },
      ralphIteration: 1,
      ralphTotal: 3,
      agent: null,
      progress: { currentStep: 3, totalSteps: 5 },
      instructions: 'Round 1 after the plan, |',
      action: { do: 'work', at: 'k3f9x2ab:polish/1#1', step: 'polish', finish: 'advance' },
    });
    for (const output of ['x', 'y', 'z']) all.advance(output);
    expect(all.status()).toMatchObject({
      ralphIteration: 1,
      ralphTotal: 1,
      instructions: 'Once |{task.nope}||',
    });
    all.advance('once');
    expect(all.advance('ended')).toEqual({
      run,
      status: 'waiting',
      at: 'k3f9x2ab:end#1',
      step: 'end',
      stepType: 'action',
      phase: { current: 5, total: 5, name: 'end', status: 'in_progress' },
      agent: null,
      progress: { currentStep: 5, totalSteps: 5 },
      instructions: 'Do end',
      waiting: { for: 'review', by: 'human' },
      action: { do: 'wait', for: 'review', by: 'person', at: 'k3f9x2ab:end#1' },
    });
    expect(all.person({ type: 'review', verdict: 'approve' })).toEqual({
      run,
      status: 'complete',
      step: 'end',
      stepType: 'action',
      phase: { current: 5, total: 5, name: 'end', status: 'completed' },
      agent: null,
      progress: { currentStep: 5, totalSteps: 5 },
      action: { do: 'nothing', because: 'complete', run },
    });
  });

  test('of a failed run has its reason and says that it is blocked', () => {
    const failing = new Run(workflow([action('a', { on_fail: 'abort' })]));
    expect(failing.send({ type: 'fail', reason: 'no disk' })).toEqual({
      run,
      status: 'failed',
      reason: 'no disk',
      step: 'a',
      stepType: 'action',
      phase: { current: 1, total: 1, name: 'a', status: 'blocked' },
      agent: null,
      progress: { currentStep: 1, totalSteps: 1 },
      action: { do: 'nothing', because: 'failed', run },
    });
  });

  test('of several agents lists held and ready tasks', () => {
    const team = new Run(
      workflow([loop('build', { parallel: 3 })], { loops: { build: [{ id: 'code', instructions: 'C' }] } }),
    );
    team.tasks('build', 'a', 'b', ['c', 'a']);
    team.claim('A', 'a');
    team.claim('B', 'b');
    expect(team.status()).toEqual({
      run,
      status: 'running',
      step: 'build',
      stepType: 'loop',
      phase: { current: 1, total: 1, name: 'build', status: 'in_progress' },
      agent: null,
      progress: { currentStep: 1, totalSteps: 1, completedTasks: 0, totalTasks: 3 },
      held: [
        { at: 'k3f9x2ab:build/a/code#1', task: 'a', holder: 'A' },
        { at: 'k3f9x2ab:build/b/code#1', task: 'b', holder: 'B' },
      ],
      ready: [],
      action: {
        do: 'claim',
        run,
        step: 'build',
        ready: [],
        own: ['k3f9x2ab:build/a/code#1', 'k3f9x2ab:build/b/code#1'],
        held: 2,
        limit: 3,
        open: [
          { task: 'a', state: { is: 'held', by: 'A' } },
          { task: 'b', state: { is: 'held', by: 'B' } },
          { task: 'c', state: { is: 'depends', on: ['a'] } },
        ],
        decisions: [],
      },
    });
  });

  test('of running gates and of every way to wait', () => {
    const gated = new Run(
      workflow([action('a', { gate: [{ run: 'make' }], review: { by: 'critic' }, attempts: 1 })]),
    );
    expect(gated.advance('x')).toMatchObject({
      checking: { id: 'k3f9x2ab:a#1!1', deadline: gated.now + 660_000 },
      action: { do: 'wait', for: 'gates', at: 'k3f9x2ab:a#1' },
    });
    gated.gates();
    expect(gated.status()).toMatchObject({
      waiting: { for: 'review', by: 'critic' },
      action: { do: 'wait', for: 'review', by: { agent: 'critic' }, at: 'k3f9x2ab:a#1' },
    });
    gated.person({ type: 'review', verdict: 'revise' });
    gated.advance('y');
    gated.gates({ red: true });
    expect(gated.status()).toMatchObject({
      phase: { status: 'blocked' },
      waiting: { for: 'blocked', by: 'human', reason: 'its gates failed 1 times' },
      action: { do: 'wait', for: 'decision', step: 'a', at: 'k3f9x2ab:a#2' },
    });
  });

  test('fills in what only the caller knows', () => {
    const values = { project_root: '/repo', nonsense: 'x' };
    const { reply, state } = respond(definition, null, { type: 'start', now: 1, run, summary: 's' }, values);
    expect(reply).toMatchObject({ instructions: `Plan s in /repo, ${run}, x, |` });
    const cursor = state?.cursors.plan;
    if (!state || !cursor) throw new Error('it has started');
    expect(instructionsFor(definition, state, cursor, values)).toContain('/repo');
    expect(statusOf(definition, state)).not.toHaveProperty('at');
  });
});
