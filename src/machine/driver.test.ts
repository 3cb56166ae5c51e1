import { describe, expect, it } from 'vitest';
import { loadWorkflowTemplateFromString } from '../index.ts';
import type { Command } from '../schema/index.ts';
import { type Settled, settle } from './decide.ts';
import { driverLeaseMs } from './driver.ts';
import type { State } from './state.ts';

type Sent<C> = C extends Command ? Omit<C, 'now' | 'actor'> : never;

const engine = { kind: 'engine' } as const;
const person = { kind: 'person', name: 'ada' } as const;
const process = { pid: 11, machine: 'laptop' };

const loops = `
loops:
  build:
    - id: work
      instructions: Do it.
      gate: [{ run: npm test }]
      on_fail: { retry: 2, then: wait }
`;

function play(steps: string) {
  const workflow = loadWorkflowTemplateFromString(
    `name: go\ndescription: d\ntype: custom\n${loops}steps:\n${steps}`,
  );
  let state: State | null = null;
  let now = 0;
  const send = (command: Sent<Command>, actor: Command['actor'] = engine): Settled => {
    const settled = settle(workflow, state, { now, actor, ...command } as Command);
    state = settled.state;
    return settled;
  };
  send({ type: 'start', run: 'go-1-abcdefgh' });
  return {
    send,
    wait: (ms: number) => {
      now += ms;
    },
    state: (): State => {
      if (!state) throw new Error('no state');
      return state;
    },
    code: (settled: Settled) => settled.refusal?.code,
    types: ({ events }: Settled) => events.map(({ type }) => type),
  };
}

const action = '  - { id: work, type: action, instructions: Do it. }\n';
const parallel =
  '  - { id: build, type: loop, parallel: 2 }\n  - { id: after, type: action, instructions: Do it. }\n';
const take = { type: 'drive', change: 'take', process } as const;

describe('a driver', () => {
  it('is alone: a second one is refused until the first ends, is gone, or lets its lease run out', () => {
    const run = play(action);
    expect(run.types(run.send(take))).toEqual(['driver.taken']);
    const other = { ...take, process: { pid: 12, machine: 'laptop' } };
    expect(run.code(run.send(other))).toBe('driver_held');
    expect(run.code(run.send({ ...other, process: { pid: 12, machine: 'server' }, gone: 1 }))).toBe(
      'driver_held',
    );
    expect(run.types(run.send({ ...other, gone: 1 }))).toEqual(['driver.taken']);
    // A third one saw the same death: it comes too late.
    expect(run.code(run.send({ ...take, process: { pid: 13, machine: 'laptop' }, gone: 1 }))).toBe(
      'driver_held',
    );
    expect(run.state().driver?.epoch).toBe(2);
    expect(run.code(run.send({ type: 'drive', change: 'renew', process, epoch: 1 }))).toBe('stale_driver');
    run.wait(driverLeaseMs + 1);
    expect(run.types(run.send(take))).toEqual(['driver.taken']);
    run.send({ type: 'drive', change: 'release', process, epoch: 3 });
    expect(run.types(run.send(other))).toEqual(['driver.taken']);
    expect(run.state().driver?.epoch).toBe(4);
  });

  it('is no agent and no person', () => {
    const run = play(action);
    expect(run.code(run.send(take, { kind: 'agent' }))).toBe('engine_only');
    expect(run.code(run.send(take, person))).toBe('engine_only');
  });

  it('is paused by a person only, once', () => {
    const run = play(action);
    expect(run.code(run.send({ type: 'pause' }, { kind: 'agent' }))).toBe('person_only');
    expect(run.types(run.send({ type: 'pause' }, person))).toEqual(['run.paused']);
    expect(run.types(run.send({ type: 'pause' }, person))).toEqual([]);
    expect(run.state().paused?.by).toBe('ada');
    run.send({ type: 'unpause' }, person);
    expect(run.state().paused).toBeUndefined();
  });
});

describe('a check at the end of a turn', () => {
  const gated =
    '  - { id: work, type: action, instructions: Do it., gate: [{ run: npm test }], on_fail: { retry: 2, then: abort } }\n';

  const checkRed = (run: ReturnType<typeof play>, attempt: boolean) => {
    const [cursor] = Object.values(run.state().cursors);
    const at = `abcdefgh:work#${cursor?.visit}`;
    run.send({ type: 'check', at, output: 'done', attempt }, { kind: 'agent' });
    const id = Object.values(run.state().cursors)[0]?.checking?.id ?? '';
    run.send({ type: 'gatesFinished', id, receipts: [{ gate: 0, pass: false, exit: 1 }] });
  };

  it('counts as an attempt for a driver', () => {
    const run = play(gated);
    checkRed(run, true);
    expect(run.state().cursors.work?.reds).toBe(1);
    checkRed(run, true);
    expect(run.state().status).toBe('failed');
  });

  it('counts for nothing else', () => {
    const run = play(gated);
    for (let round = 0; round < 4; round += 1) checkRed(run, false);
    expect(run.state().status).toBe('running');
    expect(run.state().cursors.work?.reds).toBe(0);
  });
});

describe('the merge queue', () => {
  function driven(steps = parallel) {
    const run = play(steps);
    run.send({ ...take, branch: 'stepfast/go/run' });
    const list = ['a', 'b', 'c'].map((id) => ({ id, title: id }));
    run.send({
      type: 'setTasks',
      loop: 'build',
      tasks: list.map((task) => (task.id === 'c' ? { ...task, depends_on: ['a'] } : task)),
    });
    return run;
  }
  type Run = ReturnType<typeof driven>;

  const claim = (run: Run, holder: string, task?: string) =>
    run.send({ type: 'claim', holder, ...(task === undefined ? {} : { task }) });
  const work = (run: Run, task: string) => {
    const { visit } = run.state().cursors[`build/${task}`] ?? {};
    run.send({ type: 'advance', output: 'done', at: `abcdefgh:build/${task}/work#${visit}` });
    const id = run.state().cursors[`build/${task}`]?.checking?.id ?? '';
    return run.send({ type: 'gatesFinished', id, receipts: [{ gate: 0, pass: true }] });
  };
  const start = (run: Run, task: string, epoch = 1) =>
    run.send({ type: 'mergeStarted', epoch, task, base: 'b0', commit: 'c0' });
  const finish = (run: Run, task: string, result: 'merged' | 'conflict' | 'red', epoch = 1) =>
    run.send({ type: 'mergeFinished', epoch, task, result, reason: 'x' });

  it('ends a task with its merge, and only then begins what depends on it', () => {
    const run = driven();
    claim(run, 's1', 'a');
    expect(run.types(work(run, 'a'))).toContain('merge.queued');
    expect(run.state().merges?.a?.state).toBe('queued');
    expect(run.code(claim(run, 's2', 'c'))).toBe('no_task');
    start(run, 'a');
    expect(run.types(finish(run, 'a', 'merged'))).toEqual(['merge.finished', 'task.ended']);
    expect(run.code(claim(run, 's2', 'c'))).toBeUndefined();
  });

  it('holds no slot while it waits, and the run goes on', () => {
    const run = driven();
    claim(run, 's1', 'a');
    claim(run, 's2', 'b');
    expect(Object.values(run.state().cursors).map(({ slot }) => slot)).toEqual([0, 1]);
    work(run, 'a');
    work(run, 'b');
    expect(Object.keys(run.state().cursors)).toEqual([]);
    expect(run.state().status).toBe('running');
  });

  it('sends a task back to its last sub-step, first in line, with the reason', () => {
    const run = driven();
    claim(run, 's1', 'b');
    work(run, 'b');
    expect(run.types(finish(run, 'b', 'conflict'))).toEqual(['merge.failed']);
    claim(run, 's2');
    const cursor = run.state().cursors['build/b'];
    expect(cursor).toMatchObject({ visit: 2, failures: 1, failure: 'x', subStep: 'work', slot: 0 });
    expect(run.state().merges).toEqual({});
  });

  it('parks a task whose attempts are used up, and a person may try it again', () => {
    const run = driven();
    for (const task of ['a', 'b']) {
      claim(run, 's1', task);
      work(run, task);
    }
    start(run, 'b');
    finish(run, 'b', 'merged');
    start(run, 'a');
    finish(run, 'a', 'red');
    claim(run, 's1', 'a');
    work(run, 'a');
    start(run, 'a');
    expect(run.types(finish(run, 'a', 'red'))).toEqual(['merge.failed', 'merge.parked']);
    expect(run.state().status).toBe('waiting');
    expect(run.code(claim(run, 's1', 'a'))).toBe('task_held');
    expect(run.code(run.send({ type: 'retryMerge', task: 'a' }, { kind: 'agent' }))).toBe('person_only');
    run.send({ type: 'retryMerge', task: 'a' }, person);
    expect(run.state().status).toBe('running');
    expect(run.code(claim(run, 's1', 'a'))).toBeUndefined();
  });

  it('counts nothing against a task while the queue is held', () => {
    const run = driven();
    for (const task of ['a', 'b']) {
      claim(run, 's1', task);
      work(run, task);
    }
    run.send({ type: 'holdQueue', epoch: 1, why: 'base_red', reason: 'red', head: 'b0' });
    expect(run.state().status).toBe('waiting');
    run.send({ type: 'holdQueue', epoch: 1 });
    expect(run.state().status).toBe('running');
    expect(run.state().merges?.a?.failures).toBe(0);
  });

  it('accepts nothing from a driver that was replaced', () => {
    const run = driven();
    claim(run, 's1', 'a');
    work(run, 'a');
    run.send({ ...take, process: { pid: 12, machine: 'laptop' }, gone: 1 });
    expect(run.code(start(run, 'a', 1))).toBe('stale_driver');
    expect(run.code(start(run, 'a', 2))).toBeUndefined();
    expect(run.code(finish(run, 'a', 'merged', 1))).toBe('stale_driver');
    expect(run.state().tasks.build?.byId.a?.end).toBeUndefined();
  });

  it('leaves the loop once every task is merged', () => {
    const run = driven();
    for (const task of ['a', 'b', 'c']) {
      claim(run, 's1', task);
      work(run, task);
      start(run, task);
      finish(run, task, 'merged');
    }
    expect(run.state().step).toBe('after');
    expect(run.state().merges).toBeUndefined();
  });

  it('concerns only driven runs and loops with merge_gate', () => {
    const plain = play(parallel);
    plain.send({ type: 'setTasks', loop: 'build', tasks: [{ id: 'a', title: 'a' }] });
    claim(plain, 's1', 'a');
    expect(plain.types(work(plain, 'a'))).toContain('task.ended');
    const gated = play(parallel.replace('parallel: 2', 'parallel: 2, merge_gate: [{ run: npm test }]'));
    gated.send({ type: 'setTasks', loop: 'build', tasks: [{ id: 'a', title: 'a' }] });
    claim(gated, 's1', 'a');
    expect(gated.types(work(gated, 'a'))).toContain('merge.queued');
  });

  it('forgets a task that a person removes', () => {
    const run = driven();
    claim(run, 's1', 'a');
    work(run, 'a');
    run.send({ type: 'dropTask', task: 'a', reason: 'not needed' }, person);
    expect(run.state().merges).toEqual({});
    expect(run.code(claim(run, 's2', 'c'))).toBeUndefined();
  });
});
