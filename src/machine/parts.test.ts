import { describe, expect, test } from 'vitest';
import { action, loop, Run, ralph, workflow } from '../../test/kit/run.ts';
import { WorkflowStateMachine } from '../engine/workflow-state-machine.ts';
import type { Adopted, Command, Event } from '../schema/index.ts';
import { adoptedDefinition, requiredReading } from './adopt.ts';
import { decide } from './decide.ts';
import { evolve, replay } from './evolve.ts';
import { formatHandle, outputKey, parseHandle } from './handle.ts';
import { expandPlaceholders, findPlaceholders, maxExpanded } from './placeholders.ts';
import { isRefusal } from './refusal.ts';

const definitionOfLoop = workflow([loop('build')], { loops: { build: [{ id: 'code', instructions: 'C' }] } });

describe('handles', () => {
  test('are written and read back', () => {
    const handle = formatHandle('feature-20261114-k3f9x2ab', 'build/task-2/verify', 3);
    expect(handle).toBe('k3f9x2ab:build/task-2/verify#3');
    expect(parseHandle(handle)).toEqual({ suffix: 'k3f9x2ab', path: 'build/task-2/verify', visit: 3 });
    expect(formatHandle('nodash', 'a', 1)).toBe('nodash:a#1');
    expect(outputKey('build/task-2/verify')).toBe('build.task-2.verify');
  });

  test.each([
    '',
    'a',
    'a:b',
    'a:b#',
    'a:b#0',
    'a:b#01',
    'a:b#-1',
    'a:b#1x',
    ' a:b#1',
    'a:b#1 ',
    ':b#1',
    'a:#1',
    'a b:c#1',
    'a:b c#1',
    'a:b#1#2',
    'a:b#9999999999',
  ])('%j is none', (text) => {
    expect(parseHandle(text)).toBeUndefined();
  });
});

describe('placeholders', () => {
  test('are found with their place, and doubled braces are none', () => {
    expect(findPlaceholders('a {b} {{c}} {d.e-f} { g } {1h} {_i}')).toEqual([
      { name: 'b', offset: 2 },
      { name: 'd.e-f', offset: 12 },
      { name: '_i', offset: 31 },
    ]);
  });

  test('are filled in once: a value is never expanded again, an unknown name stays', () => {
    const values: Record<string, string> = { a: '{b}', b: 'B' };
    const lookup = (name: string) => (Object.hasOwn(values, name) ? values[name] : undefined);
    expect(expandPlaceholders('{a} {b} {c} {{a}} {{c}}', lookup)).toBe('{b} B {c} {a} {c}');
  });

  test('[S2] a value that does not fit into the room stays a placeholder, however often it is named', () => {
    const looked: string[] = [];
    const lookup = (name: string) => {
      looked.push(name);
      return 'v'.repeat(name === 'large' ? 290_000 : 10);
    };
    const text = expandPlaceholders(`${'{large}'.repeat(5000)}{small}`, lookup);
    expect(text.length).toBeLessThan(maxExpanded + 7 * 5000);
    expect(text.startsWith('vvv')).toBe(true);
    expect(text.endsWith(`{large}${'v'.repeat(10)}`)).toBe(true);
    expect(looked).toEqual(['large', 'small']);
  });
});

describe('adoption', () => {
  const adoptedRun = (adopted: Adopted): Run => {
    const run = new Run(adoptedDefinition('work', adopted), { start: false });
    run.send({ type: 'adopt', run: 'work-1-abcd', adopted });
    return run;
  };

  test('a definition with everything, and one with nothing', () => {
    const adopted = {
      source: 'CLAUDE.local.md',
      phase: { current: 4, total: 10, name: 'SEO' },
      reading: ['@a.md'],
      text: 'Mind {this}.',
    };
    expect(adoptedDefinition('My Work!', adopted)).toEqual({
      name: 'my-work',
      description: 'Adopted from CLAUDE.local.md',
      type: 'custom',
      steps: [{ id: 'work', type: 'action' }],
    });
    const run = adoptedRun(adopted);
    expect(run.status()).toMatchObject({
      instructions:
        'Phase 4/10: SEO.\n\nMind {this}.\n\nContinue the workflow that CLAUDE.local.md describes. When a phase is done, write the next phase into that file: the run follows it.',
    });
    expect(requiredReading(run.definition, run.state)).toEqual(['@a.md']);
    const bare = adoptedRun({ source: 'PLAN.md' });
    expect(bare.status()).toMatchObject({ instructions: 'Continue the workflow that PLAN.md describes.' });
    expect(requiredReading(bare.definition, bare.state)).toEqual([]);
  });

  test('[002/8] a second look at the source changes what the run says, or nothing', () => {
    const adopted = { source: 'PLAN.md', phase: { current: 4, total: 10, name: 'SEO' } };
    const run = adoptedRun(adopted);
    expect(run.send({ type: 'adopt', run: 'x', adopted })).not.toHaveProperty('code');
    expect(run.events.filter(({ type }) => type === 'run.adopted')).toHaveLength(1);
    const later = { ...adopted, phase: { current: 5, total: 10, name: 'Links' }, reading: ['b.md', '@b.md'] };
    run.send({ type: 'adopt', run: 'x', adopted: later });
    expect(run.status().instructions).toMatch(/^Phase 5\/10: Links\./);
    expect(requiredReading(run.definition, run.state)).toEqual(['@b.md']);
    expect(run.advance('done')).toMatchObject({
      code: 'unfinished',
      params: { source: 'PLAN.md', phase: 5, phases: 10 },
    });
    run.send({
      type: 'adopt',
      run: 'x',
      adopted: { ...later, phase: { current: 10, total: 10, name: 'End' } },
    });
    expect(run.advance('all done')).toMatchObject({ status: 'complete' });
    const own = new Run(workflow([action('a')]));
    expect(own.send({ type: 'adopt', run: 'x', adopted })).toMatchObject({ code: 'not_adopted' });
  });
});

describe('a damaged journal', () => {
  const definition = workflow([action('a'), action('b')]);
  const { state } = new Run(definition);

  test('an event for a position that is not open throws', () => {
    const event: Event = { type: 'position.failed', now: 1, at: 'k3f9x2ab:a#2', reason: 'x' };
    expect(() => evolve(definition, state, event)).toThrow('no open position k3f9x2ab:a#2');
    expect(() => evolve(definition, state, { ...event, at: 'k3f9x2ab:b#1' })).toThrow(RangeError);
  });

  test('a result for gates that do not run throws', () => {
    const event: Event = { type: 'gates.interrupted', now: 1, id: 'x', why: 'runner' };
    expect(() => evolve(definition, state, event)).toThrow('no running gates x');
  });

  test('a step that the pinned workflow does not have throws', () => {
    const event: Event = { type: 'step.entered', now: 1, step: 'zzz' };
    expect(() => evolve(definition, state, event)).toThrow("the pinned workflow has no step 'zzz'");
  });

  test('no events leave a state as it is', () => {
    expect(replay(definition, state, [])).toBe(state);
  });
});

describe('import', () => {
  const definition = workflow(
    [action('plan'), loop('build', { loop: 'cycle' }), ralph('polish', 3, { context: 'compact' })],
    {
      loops: {
        cycle: [
          { id: 'code', instructions: 'C' },
          { id: 'check', instructions: 'D', context: 'clear' },
        ],
      },
    },
  );
  const saved = {
    status: 'running' as const,
    step: 'build',
    stepType: 'loop' as const,
    task: { index: 1, id: 't2', title: 'Two' },
    subStep: 'check',
    tasks: {
      build: [
        { id: 't1', title: 'One', status: 'done' as const },
        { id: 't2', title: 'Two', status: 'in_progress' as const, depends_on: ['t1'] },
        { id: 't3', title: 'Three', status: 'failed' as const },
        { id: 't4', title: 'Four', status: 'pending' as const },
      ],
    },
    outputs: { plan: 'p', 'build.t1.code': 'c', 'build.t1.check': 'd', 'build.t2.code': 'e' },
    summary: 'S',
    artefacts: ['a.md'],
    contextActionExecuted: false,
  };

  test('a saved run in a loop becomes a run whose outputs are unverified', () => {
    const run = new Run(definition, { start: false });
    run.now = 7;
    run.send({ type: 'import', run: 'x-1-abc', state: saved });
    expect(run.types()).toEqual(['run.started', 'run.imported', 'boundary.requested']);
    expect(run.state).toMatchObject({
      step: 'build',
      status: 'running',
      summary: 'S',
      artefacts: ['a.md'],
      outputs: { plan: { text: 'p', at: 'abc:plan#1', now: 7, receipts: [] } },
      visits: { plan: 1, 'build/t1/code': 1, 'build/t1/check': 1, 'build/t2/code': 1, 'build/t2/check': 1 },
      tasks: {
        cycle: {
          order: ['t1', 't2', 't3', 't4'],
          byId: {
            t1: { id: 't1', title: 'One', end: 'done' },
            t2: { id: 't2', title: 'Two', depends_on: ['t1'] },
            t3: { end: 'failed' },
            t4: { id: 't4', title: 'Four' },
          },
        },
      },
    });
    expect(run.state.cursors['build/t2']).toMatchObject({
      step: 'build',
      task: 't2',
      subStep: 'check',
      path: 'build/t2/check',
      visit: 1,
      enteredAt: 7,
      failures: 0,
      reds: 0,
      checks: 0,
      stops: 0,
      boundary: { action: 'clear', state: 'requested' },
    });
    expect(run.advance('x', { at: 'abc:plan#1' })).toMatchObject({ replayed: true });
  });

  test('an executed action is behind it, an ended run has no position, a ralph step its iteration', () => {
    const machine = WorkflowStateMachine.fromState(definition, { ...saved, contextActionExecuted: true });
    expect(machine.getStatus()).toMatchObject({ at: 'local:build/t2/check#1', instructions: 'D' });
    const done = { ...saved, status: 'complete' as const };
    expect(WorkflowStateMachine.fromState(definition, done).getStatus()).not.toHaveProperty('at');
    const { task: _, subStep: _sub, ...plain } = saved;
    const polish = { ...plain, step: 'polish', stepType: 'ralph' as const, ralphIteration: 2 };
    expect(WorkflowStateMachine.fromState(definition, polish).getStatus()).toMatchObject({
      at: 'local:polish/2#1',
      ralphIteration: 2,
      contextAction: '/compact',
    });
  });

  test('a second import, like a second start, only answers', () => {
    const run = new Run(definition, { start: false });
    run.send({ type: 'import', run: 'x-1-abc', state: saved });
    expect(run.send({ type: 'import', run: 'x-1-abc', state: saved })).toMatchObject({ instructions: 'D' });
    expect(run.types()).toEqual(['boundary.released']);
  });
});

describe('a task that failed', () => {
  test('replays its failure, and refuses an output', () => {
    const definition = workflow([loop('build'), action('end')], {
      loops: { build: [{ id: 'code', instructions: 'C', on_fail: 'skip' }] },
    });
    const run = new Run(definition);
    run.tasks('build', 'a', 'b');
    const at = run.status().at ?? '';
    run.send({ type: 'fail', reason: 'x', at });
    expect(run.send({ type: 'fail', reason: 'x', at })).toMatchObject({ replayed: true, task: { id: 'b' } });
    expect(run.last).toEqual([]);
    expect(run.advance('late', { at })).toMatchObject({ code: 'stale_handle' });
    expect(run.send({ type: 'fail', reason: 'x', at: at.replace('build', 'end') })).toMatchObject({
      code: 'stale_handle',
    });
    expect(
      run.send({ type: 'fail', reason: 'x', at: at.replace('/a/', '/b/').replace('#1', '#2') }),
    ).toMatchObject({
      code: 'stale_handle',
      params: { at: 'k3f9x2ab:build/b/code#2' },
    });
  });
});

describe('refusals', () => {
  test('are told apart from events, and shorten what they quote', () => {
    const run = new Run(workflow([action('a')]));
    expect(isRefusal([])).toBe(false);
    expect(isRefusal({ code: 'not_waiting', params: {} })).toBe(true);
    const long = 'x'.repeat(200);
    const short = 'x'.repeat(80);
    expect(run.status({ at: long }).params).toEqual({ given: short });
    expect(run.person({ type: 'rewind', to: long }).params).toMatchObject({ given: short });
    expect(run.tasks(long, 'a').params).toMatchObject({ given: short });
    const note = run.send({ type: 'note', kind: 'variable', key: long, text: 'x' });
    expect(note.params).toEqual({ why: 'bad_key', key: short });
    const team = new Run(
      workflow([loop('build', { parallel: 2 })], { loops: { build: [{ id: 'c', instructions: 'C' }] } }),
    );
    team.tasks('build', 't1', 't2', 't3', 't4', 't5', 't6');
    expect(team.claim('A', long).params).toMatchObject({ why: 'unknown', task: short });
    const ready = ['t1', 't2', 't3', 't4', 't5', 't6'];
    expect(team.advance('x')).toMatchObject({ code: 'claim_required', action: { do: 'claim', ready } });
    expect(team.tasks('build', long).params).toMatchObject({ problem: { is: 'bad_id', task: short } });
    const started = new Run(workflow([action('a')]), { start: false });
    const unknown = started.send({ type: 'start', run: 'x', inputs: { [long]: 1 } });
    expect(unknown.params).toMatchObject({ why: 'unknown', name: short });
    const saved = { ...new WorkflowStateMachine(workflow([action('a')])).getState(), step: long };
    const imported = started.send({ type: 'import', run: 'x', state: saved });
    expect(imported.params).toMatchObject({ why: 'import', given: short });
  });

  test('an imported loop goes on with what is ready, and skips what depends on a failure', () => {
    const run = new Run(definitionOfLoop, { start: false });
    const tasks = [
      { id: 'v1.2', title: 'A', status: 'done' as const },
      { id: 'lost', title: 'B', status: 'failed' as const },
      { id: 'behind', title: 'C', status: 'pending' as const, depends_on: ['lost'] },
      { id: 'constructor', title: 'D', status: 'pending' as const },
    ];
    const state = {
      status: 'running' as const,
      step: 'build',
      stepType: 'loop' as const,
      tasks: { build: tasks },
      outputs: { 'build.v1.2.code': 'x' },
      artefacts: [],
      contextActionExecuted: false,
    };
    expect(run.send({ type: 'import', run: 'x-1-abc', state })).toMatchObject({
      at: 'abc:build/constructor/code#1',
    });
    expect(run.state.visits).toEqual({ 'build/v1.2/code': 1, 'build/constructor/code': 1 });
    expect(run.state.tasks.build?.byId.behind?.end).toBe('skipped');
    expect(run.advance('x', { at: 'abc:build/v1.2/code#1' })).toMatchObject({ replayed: true });
  });

  test('what is undefined in a command does not reach the journal', () => {
    const run = new Run(workflow([action('a')]), { start: false });
    // What an untyped caller may send.
    const facts = { witness: undefined, host: 'h' } as unknown as { host: string };
    run.send({ type: 'start', run: 'x-1-abc', session: 'A', facts });
    run.send({ type: 'session', session: 'A', event: { type: 'started', ...facts } });
    expect(JSON.parse(JSON.stringify(run.events))).toStrictEqual(run.events);
  });

  test('what a compaction kept and lost is recorded for a session of the run, of notes that are there', () => {
    const run = new Run(workflow([action('a')]));
    run.witness('A');
    run.send({ type: 'note', kind: 'decision', text: 'Passkeys only.' });
    const event = { type: 'compacted', trigger: 'auto', asked: 9, found: 2 } as const;
    const told = { ...event, kept: ['n1', 'n7'], lost: ['n8'] };
    expect(run.send({ type: 'session', session: 'A', event: told })).not.toHaveProperty('code');
    expect(run.events.at(-1)).toMatchObject({
      type: 'compaction.recorded',
      session: 'A',
      trigger: 'auto',
      asked: 9,
      found: 2,
      kept: ['n1'],
      lost: [],
    });
    expect(run.send({ type: 'session', session: 'B', event: told })).toMatchObject({
      code: 'unknown_session',
    });
  });

  test('what is read, named and set has limits, and a held stop needs a handle of this run', () => {
    const run = new Run(workflow([action('a')]));
    run.witness('A');
    const held = {
      type: 'session' as const,
      session: 'A',
      event: { type: 'held' as const, at: 'other:a#1' },
    };
    expect(run.send(held)).toMatchObject({ code: 'wrong_run' });
    expect(run.send({ type: 'read', path: 'x'.repeat(1001), hash: 'h' })).toMatchObject({
      code: 'notes_full',
    });
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`k${index}`, 'v']));
    const reading = Object.fromEntries(Object.keys(many).map((key) => [key, { hash: 'h', now: 0 }]));
    const full = { ...run.state, variables: many, artifacts: many, reading };
    const tries = (command: object) => decide(run.definition, full, { now: 0, ...command } as Command);
    expect(tries({ type: 'note', kind: 'variable', key: 'new', text: 'x' })).toMatchObject({
      code: 'notes_full',
    });
    expect(tries({ type: 'note', kind: 'variable', key: 'k1', text: 'x' })).toHaveLength(1);
    expect(tries({ type: 'note', kind: 'artefact', key: 'new', text: 'x' })).toMatchObject({
      code: 'notes_full',
    });
    expect(tries({ type: 'note', kind: 'artefact', key: 'k1', text: 'x' })).toHaveLength(1);
    expect(tries({ type: 'read', path: 'new', hash: 'h' })).toMatchObject({ code: 'notes_full' });
    expect(tries({ type: 'read', path: 'k1', hash: 'h' })).toHaveLength(1);
  });
});
