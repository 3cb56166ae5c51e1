import { describe, expect, test } from 'vitest';
import { action, cursor, loop, Run, workflow } from '../../test/kit/run.ts';
import type { Step, TaskInput } from './index.ts';

const loops = { l: [{ id: 's', instructions: 'S' }] };
const engine = { actor: { kind: 'engine' as const } };
const task = (id: string): TaskInput => ({ id, title: id });

const start = (tasks: Step['tasks'] & object) =>
  new Run(workflow([action('a'), loop('l', { tasks }), action('end')], { loops }));

function read(run: Run, found: { tasks?: TaskInput[]; problem?: string }) {
  const { path = '', visit = 0 } = cursor(run) ?? {};
  return run.send({ type: 'prepared', at: `k3f9x2ab:${path}#${visit}`, ...found, ...engine });
}

describe('[L/tasks] tasks from files', () => {
  test('are asked for when the loop is entered, and again by every call until they are read', () => {
    const run = start({ files: 'src/*.ts' });
    run.advance('x', { session: 's1' });
    const effect = { type: 'readTasks', step: 'l', session: 's1' };
    expect(run.effects).toMatchObject([effect]);
    expect(run.status().action).toMatchObject({ do: 'wait', for: 'preparation' });
    expect(run.effects).toMatchObject([effect]);
    expect(read(run, { tasks: [task('a'), task('b')] })).toMatchObject({ task: { id: 'a' }, step: 'l' });
    expect(run.effects).toEqual([]);
  });

  test('a rewind keeps the list, a pivot reads it again', () => {
    const run = start({ json: 'tasks.json' });
    run.advance('x');
    read(run, { tasks: [task('a')] });
    run.person({ type: 'rewind', to: 'a' });
    run.advance('x');
    expect(run.status()).toMatchObject({ task: { id: 'a' } });
    run.send({ type: 'fail', reason: 'no' });
    run.person({ type: 'review', verdict: 'pivot', to: 'a' });
    run.status();
    run.advance('not briefed');
    run.advance('y');
    expect(run.status().action).toMatchObject({ for: 'preparation' });
  });

  test.each([
    ['too few', { files: 'x', min: 2 }, { tasks: [task('a')] }],
    ['too many', { files: 'x', max: 1 }, { tasks: [task('a'), task('b')] }],
    ['twice the same', { files: 'x' }, { tasks: [task('a'), task('a')] }],
    ['not readable', { files: 'x' }, { problem: 'no such file' }],
  ])('%s: the run waits; a person leaves the loop, or they are read again', (_, source, found) => {
    const run = start(source);
    run.advance('x');
    read(run, found);
    expect(run.status()).toMatchObject({ status: 'waiting', waiting: { for: 'blocked' } });
    expect(run.effects).toEqual([]);
    run.person({ type: 'review', verdict: 'revise' });
    expect(run.effects).toMatchObject([{ type: 'readTasks' }]);
    read(run, found);
    run.person({ type: 'review', verdict: 'approve' });
    expect(run.state).toMatchObject({ step: 'end', status: 'running' });
  });

  test('an agent may add tasks, but not to a locked list', () => {
    for (const locked of [false, true]) {
      const run = start({ files: 'x', locked });
      run.advance('x');
      read(run, { tasks: [task('a')] });
      const reply = run.tasks('l', 'a', 'b');
      expect(reply.code).toBe(locked ? 'bad_tasks' : undefined);
    }
  });
});

test('[L/tasks] an agent that sets the tasks keeps to min and max', () => {
  const run = start({ min: 2, max: 3 });
  run.advance('x');
  expect(run.tasks('l', 'a')).toMatchObject({ code: 'bad_tasks', params: { problem: { is: 'too_few' } } });
  expect(run.tasks('l', 'a', 'b', 'c', 'd')).toMatchObject({ params: { problem: { is: 'too_many' } } });
  expect(run.tasks('l', 'a', 'b')).toMatchObject({ task: { id: 'a' } });
});
