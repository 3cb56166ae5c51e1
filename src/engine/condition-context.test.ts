import { expect, test } from 'vitest';
import { action, loop, Run, ralph, workflow } from '../../test/kit/run.ts';
import { compileCondition } from '../definition/index.ts';
import { opening } from '../machine/index.ts';
import { contextOf, outputsAt } from './condition-context.ts';

const definition = workflow(
  [
    action('plan'),
    loop('work', { loop: 'build' }),
    ralph('polish', 3),
    action('end', { instructions: 'Rounds: {outputs.polish} {outputs.polish.1}\n{tasks.work}' }),
  ],
  {
    loops: {
      build: [
        { id: 'code', instructions: 'Code' },
        { id: 'test', instructions: 'Test', on_fail: 'skip' },
      ],
    },
  },
);

function played(): Run {
  const run = new Run(definition);
  run.advance('planned');
  run.tasks('build', 'a', 'b.c', 'd');
  run.advance('coded a');
  run.advance('tested a');
  run.advance('coded b');
  run.send({ type: 'fail', reason: 'no' });
  return run;
}

function holds(run: Run, source: string): boolean {
  const condition = compileCondition(source);
  if (!condition.ok) throw new Error(condition.message);
  const [cursor] = Object.values(run.state.cursors);
  const texts = outputsAt(run.state, cursor).map(([key, text]) => [key, opening(text)] as const);
  return condition.evaluate(contextOf({ definition, state: run.state }, texts, cursor));
}

test('A4: tasks.LOOP lists id, title, status and output, by the name of the loop or its step', () => {
  const run = played();
  const [cursor] = Object.values(run.state.cursors);
  const { tasks } = contextOf({ definition, state: run.state }, [], cursor);
  const list = [
    { id: 'a', title: 'Task a', status: 'done', output: 'tested a' },
    { id: 'b.c', title: 'Task b.c', status: 'failed', output: 'coded b' },
    { id: 'd', title: 'Task d', status: 'in_progress', output: null },
  ];
  expect(tasks).toEqual({ build: list, work: list });
  expect(holds(run, 'tasks.build.exists(t, t.status == "failed") && size(tasks.work) == 3')).toBe(true);
  expect(holds(run, 'tasks.build.all(t, t.status == "done")')).toBe(false);
});

test('A4: outputs.LOOP.TASK.SUBSTEP stays, also as one name', () => {
  const run = played();
  expect(holds(run, 'outputs.work.a.test == "tested a"')).toBe(true);
  expect(holds(run, 'outputs["work.a.test"] == "tested a"')).toBe(true);
  expect(holds(run, 'outputs.work["b.c"].code == "coded b" && outputs["work.b.c.code"] != null')).toBe(true);
  expect(holds(run, 'outputs.work.d.code == null')).toBe(true);
});

test("A4: outputs.RALPH is the last round's output", () => {
  const run = played();
  run.advance('coded d');
  run.advance('tested d');
  run.advance('first');
  expect(holds(run, 'outputs.polish == "first" && outputs.polish.contains("irs")')).toBe(true);
  run.advance('second');
  const { instructions } = run.advance('third');
  expect(holds(run, 'outputs.polish == "third"')).toBe(true);
  expect(holds(run, 'outputs.polish["1"] == "first" && outputs["polish.2"] == "second"')).toBe(true);
  expect(instructions).toBe(
    'Rounds: third first\n- a (done) Task a: tested a\n- b.c (failed) Task b.c: coded b\n- d (done) Task d: tested d',
  );
});
