import { describe, expect, test } from 'vitest';
import { action, cursor, loop, Run, workflow } from '../../test/kit/run.ts';
import type { Step } from './index.ts';

const run = (id: string, parts: Partial<Step> = {}): Step => ({
  id,
  type: 'action',
  run: `make ${id}`,
  ...parts,
});
const runner = { pid: 7, host: 'here' };
const engine = { actor: { kind: 'engine' as const } };
const types = (of: Run): string[] => of.last.map(({ type }) => type);
const checkOf = (of: Run) => cursor(of)?.checking;

function start(of: Run): string {
  const id = checkOf(of)?.id ?? '';
  of.send({ type: 'gatesStarted', id, runner, ...engine });
  return id;
}

function end(of: Run, results: { pass: boolean; exit?: number }[], output?: string) {
  const { id = '', runner: by } = checkOf(of) ?? {};
  const receipts = results.map((result, gate) => ({ gate, ...result }));
  return of.send({
    type: 'gatesFinished',
    id,
    receipts,
    ...(by && { runner: by }),
    ...(output === undefined ? {} : { output }),
    ...engine,
  });
}

describe('[L/run] a run step', () => {
  test('starts when it is entered, without a call of an agent, and its output is what it printed', () => {
    const of = new Run(workflow([action('a'), run('b', { timeout: 5 }), action('c')]));
    expect(of.advance('x')).toMatchObject({ step: 'b', action: { do: 'wait', for: 'gates' } });
    expect(of.effects).toMatchObject([
      { type: 'runGates', gates: [{ role: 'run', gate: { run: 'make b', timeout: 5 } }] },
    ]);
    start(of);
    expect(end(of, [{ pass: true, exit: 0 }], '{"n":1}')).toMatchObject({ step: 'c' });
    expect(of.state.outputs.b).toMatchObject({ text: '{"n":1}', receipts: [{ role: 'run', pass: true }] });
  });

  test('belongs to the session whose work led there, so that it starts where that session works', () => {
    const of = new Run(workflow([action('a', { gate: [{ run: 'true' }] }), run('b'), run('c')]));
    of.advance('x', { session: 's' });
    end(of, [{ pass: true }]);
    expect(of.effects).toMatchObject([{ type: 'runGates', session: 's' }]);
    end(of, [{ pass: true }]);
    expect(of.effects).toMatchObject([
      { type: 'runGates', session: 's', gates: [{ gate: { run: 'make c' } }] },
    ]);
  });

  test('several follow each other, and a run may begin and end with one', () => {
    const of = new Run(workflow([run('a'), run('b')]));
    expect(of.effects).toMatchObject([{ type: 'runGates' }]);
    start(of);
    end(of, [{ pass: true }]);
    expect(of.effects).toMatchObject([{ type: 'runGates', gates: [{ gate: { run: 'make b' } }] }]);
    expect(end(of, [{ pass: true }])).toMatchObject({ status: 'complete' });
  });

  test('an agent can neither advance nor fail it', () => {
    const of = new Run(workflow([run('a'), action('b')]));
    expect(of.advance('done')).toMatchObject({ code: 'checking' });
    expect(of.send({ type: 'fail', reason: 'no' })).toMatchObject({ code: 'checking' });
    expect(of.state.step).toBe('a');
  });

  test('red: the run waits for a person, who may run it again', () => {
    const of = new Run(workflow([run('a'), action('b')]));
    start(of);
    end(of, [{ pass: false, exit: 3 }]);
    expect(of.status()).toMatchObject({ status: 'waiting', waiting: { reason: "'make a' exited with 3" } });
    of.person({ type: 'review', verdict: 'revise' });
    expect(of.effects).toMatchObject([{ type: 'runGates' }]);
    end(of, [{ pass: true }]);
    expect(of.state.step).toBe('b');
  });

  test('its gates come after it, and a red one fails it', () => {
    const of = new Run(workflow([run('a', { gate: [{ exists: 'x' }] }), action('b')]));
    expect(checkOf(of)?.gates.map(({ role }) => role)).toEqual(['run', 'gate']);
    end(of, [{ pass: true }, { pass: false }]);
    expect(of.state.status).toBe('waiting');
  });

  test.each([
    ['abort', 'failed'],
    ['wait', 'waiting'],
  ] as const)('on_fail: { retry: 3, then: %s } starts it three times', (then, status) => {
    const of = new Run(workflow([run('a', { on_fail: { retry: 3, then } }), action('b')]));
    for (let times = 1; times <= 3; times += 1) {
      expect(checkOf(of), `time ${times}`).toBeDefined();
      start(of);
      end(of, [{ pass: false }]);
    }
    expect(of.state.status).toBe(status);
  });

  test('interrupted before it was started: it starts again', () => {
    const of = new Run(workflow([run('a'), action('b')]));
    const first = checkOf(of)?.id;
    of.status({ runnerAlive: false });
    expect(types(of)).toEqual(['gates.interrupted', 'gates.requested']);
    expect(checkOf(of)?.id).not.toBe(first);
  });

  test('interrupted after it was started: the run waits, because it may have run', () => {
    const of = new Run(workflow([run('a'), action('b')]));
    const id = start(of);
    of.status({ runnerAlive: false });
    expect(types(of)).toEqual(['gates.interrupted', 'position.blocked']);
    expect(of.send({ type: 'gatesStarted', id, runner, ...engine })).toMatchObject({ code: 'stale_gates' });
    of.now += 1e9;
    of.status();
    expect(of.last).toEqual([]);
    expect(of.state.status).toBe('waiting');
  });

  test('idempotent: it is started again then too', () => {
    const of = new Run(workflow([run('a', { idempotent: true }), action('b')]));
    start(of);
    of.now += 1e9;
    of.status();
    expect(types(of)).toEqual(['gates.interrupted', 'gates.requested']);
    expect(of.state.status).toBe('running');
  });

  test('a used up budget of the run holds it back', () => {
    const of = new Run(workflow([action('a'), run('b')], { budget: { turns: 1 } }));
    of.send({ type: 'spend', source: 's', turns: 1 });
    of.person({ type: 'review', verdict: 'approve', amount: { turns: 1 } });
    of.advance('x');
    expect(checkOf(of)).toBeDefined();
  });

  test('a context action of the way there is asked for where an agent works again', () => {
    const of = new Run(
      workflow([action('a'), run('b'), action('c')], {
        transitions: [{ from: 'b', to: 'c', context: 'clear' }],
      }),
    );
    of.advance('x');
    expect(end(of, [{ pass: true }])).toMatchObject({ step: 'c', contextAction: '/clear' });
  });

  test('a rewind stops it and starts it anew', () => {
    const of = new Run(workflow([run('a'), action('b')]));
    start(of);
    of.person({ type: 'rewind', to: 'a' });
    expect(of.effects.map(({ type }) => type)).toEqual(['stopGates', 'runGates']);
  });
});

test('[L/run] a sub-step runs for each task, also where several agents work; its lease does not expire meanwhile', () => {
  const definition = workflow([loop('l', { parallel: 2 }), action('end')], {
    loops: {
      l: [
        { id: 'set', run: 'make set' },
        { id: 'code', instructions: 'Code' },
      ],
    },
  });
  const of = new Run(definition);
  of.tasks('l', 'a');
  expect(of.claim('one')).toMatchObject({ subStep: 'set', action: { for: 'gates' } });
  of.now += 60 * 60_000;
  expect(of.claim('two')).toMatchObject({ code: 'no_task' });
  const id = checkOf(of)?.id ?? '';
  of.send({ type: 'gatesStarted', id, runner, deadline: of.now + 1e6, ...engine });
  expect(of.state.cursors['l/a']?.checking?.runner).toEqual(runner);
});
