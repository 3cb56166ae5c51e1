import { describe, expect, test } from 'vitest';
import { action, loop, Run, workflow } from '../../test/kit/run.ts';
import { checkAtStop } from './may-stop.ts';

const gate = [{ run: 'npm test' }];
const at = 'k3f9x2ab:do#1';

function begun(steps = [action('do', { gate }), action('end')], more = {}): Run {
  const run = new Run(workflow(steps, { stop: 'check', ...more }));
  run.witness('A');
  return run;
}

describe('the check at the end of a turn', () => {
  test('green advances with the last message as the output', () => {
    const run = begun();
    run.send({ type: 'check', session: 'A', at, output: 'All done.' });
    expect(checkAtStop(run.definition, run.state, 'A')).toEqual({ why: 'checking' });
    run.gates();
    expect(run.state.step).toBe('end');
    expect(run.state.outputs.do?.text).toBe('All done.');
  });

  test('red is no attempt: the position stays open, however often', () => {
    const run = begun([action('do', { gate, attempts: 2 }), action('end')]);
    for (let times = 0; times < 5; times += 1) {
      run.send({ type: 'check', session: 'A', at, output: 'Done.' });
      run.gates({ red: true });
      expect(run.state.cursors.do).toMatchObject({ reds: 0, checked: { pass: false } });
      expect(checkAtStop(run.definition, run.state, 'A')).toMatchObject({ at, gated: true });
    }
  });

  test('a check that stays records green and keeps the position', () => {
    const run = begun();
    run.send({ type: 'check', session: 'A', at, output: 'Which colour?', stay: true });
    run.gates();
    expect(run.state.step).toBe('do');
    expect(checkAtStop(run.definition, run.state, 'A')).toMatchObject({ at, checked: { pass: true } });
  });

  test("the agent's own advance replaces a running check", () => {
    const run = begun();
    run.send({ type: 'check', session: 'A', at, output: 'Done.' });
    run.send({ type: 'advance', session: 'A', at, output: 'The form, with tests.' });
    expect(run.effects.map(({ type }) => type)).toEqual(['stopGates', 'runGates']);
    run.gates();
    expect(run.state.outputs.do?.text).toBe('The form, with tests.');
  });

  test('only one open position of the session is checked', () => {
    const run = begun();
    expect(checkAtStop(run.definition, run.state, 'B')).toEqual({ why: 'not_bound' });
    run.send({ type: 'ask', session: 'A', text: 'What?' });
    expect(checkAtStop(run.definition, run.state, 'A')).toEqual({ why: 'run_not_running' });
    const loops = begun([loop('build')], { loops: { build: [{ id: 'c', instructions: 'C' }] } });
    expect(checkAtStop(loops.definition, loops.state, 'A')).toEqual({ why: 'needs_tasks' });
    const plain = begun([action('do'), action('end')]);
    expect(checkAtStop(plain.definition, plain.state, 'A')).toMatchObject({ gated: false });
  });
});
