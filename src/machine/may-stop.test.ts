import { describe, expect, test } from 'vitest';
import { action, loop, Run, workflow } from '../../test/kit/run.ts';
import { mayStop } from './may-stop.ts';

describe('mayStop', () => {
  const stop = { session: 'A', active: false };
  const held = (): Run => {
    const run = new Run(workflow([action('a', { gate: [{ run: 'make' }] }), action('b')], { stop: 'hold' }));
    run.witness('A');
    return run;
  };

  test('holds a bound session on an unfinished position, at most three times a visit', () => {
    const run = held();
    for (let i = 0; i < 3; i += 1) {
      const verdict = mayStop(run.definition, run.state, stop);
      expect(verdict).toMatchObject({ hold: true, at: 'k3f9x2ab:a#1' });
      run.send({ type: 'session', session: 'A', event: { type: 'held', at: 'k3f9x2ab:a#1' } });
    }
    expect(mayStop(run.definition, run.state, stop)).toMatchObject({
      hold: false,
      why: 'held_often',
    });
  });

  test('never holds a stranger, a second round, a waiting position or running gates', () => {
    const run = held();
    const why = (asked: object = {}) => {
      const verdict = mayStop(run.definition, run.state, { ...stop, ...asked });
      return verdict.hold ? undefined : verdict.why;
    };
    expect(why({ session: 'B' })).toBe('not_bound');
    expect(why({ active: true })).toBe('held_this_turn');
    run.advance('x');
    expect(why()).toBe('checking');
    run.gates({ red: true });
    run.send({ type: 'ask', text: 'What?' });
    expect(why()).toBe('run_not_running');
    run.person({ type: 'answer', text: 'x' });
    run.send({ type: 'session', session: 'A', event: { type: 'ended' } });
    expect(why()).toBe('not_bound');
  });

  test('holds only where the workflow or the user asked for it', () => {
    const run = new Run(workflow([action('a')]));
    run.witness('A');
    expect(mayStop(run.definition, run.state, stop)).toMatchObject({
      hold: false,
      why: 'not_asked',
    });
    expect(mayStop(run.definition, run.state, { ...stop, asked: true })).toMatchObject({ hold: true });
  });

  test('one waiting task does not let a session go that has another', () => {
    const definition = workflow([loop('build', { parallel: 2 })], {
      loops: { build: [{ id: 'c', instructions: 'C' }] },
      stop: 'hold',
    });
    const run = new Run(definition);
    run.witness('A');
    run.tasks('build', 'a', 'b');
    const a = run.claim('A', 'a').at ?? '';
    const b = run.claim('A', 'b').at ?? '';
    run.send({ type: 'ask', text: 'What?', at: a });
    expect(mayStop(definition, run.state, stop)).toMatchObject({ hold: true, at: b });
  });

  test('with several agents a session is held for its own task only', () => {
    const definition = workflow([loop('build', { parallel: 2 })], {
      loops: { build: [{ id: 'c', instructions: 'C' }] },
      stop: 'hold',
    });
    const run = new Run(definition);
    run.witness('A');
    run.tasks('build', 'a', 'b');
    const at = run.claim('B', 'a').at ?? '';
    expect(mayStop(definition, run.state, stop)).toMatchObject({
      hold: false,
      why: 'no_task',
    });
    run.claim('A', 'b');
    expect(mayStop(definition, run.state, stop)).toMatchObject({ hold: true, at: at.replace('/a/', '/b/') });
    run.send({ type: 'ask', text: 'What?', at: at.replace('/a/', '/b/') });
    expect(mayStop(definition, run.state, stop)).toMatchObject({
      hold: false,
      why: 'waiting',
    });
  });
});
