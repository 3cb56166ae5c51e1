import { describe, expect, test } from 'vitest';
import { checking } from '../../test/kit/gated-run.ts';
import { action, Run, ralph, workflow } from '../../test/kit/run.ts';

describe('ralph', () => {
  const polish = () =>
    new Run(workflow([ralph('polish', 3, { until: [{ run: 'npm run lint' }] }), action('end')]));

  test('until ends the step early when it holds', () => {
    const run = polish();
    run.advance('first');
    run.gates({ red: 'npm run lint' });
    expect(run.status()).toMatchObject({ ralphIteration: 2, ralphTotal: 3 });
    expect(run.status()).not.toHaveProperty('failed_gates');
    run.advance('second');
    run.gates();
    expect(run.state.step).toBe('end');
    expect(Object.keys(run.state.outputs)).toEqual(['polish.1', 'polish.2']);
  });

  test('until holds only when each of its gates has a green result', () => {
    const run = new Run(
      workflow([ralph('polish', 3, { until: [{ run: 'a' }, { condition: 'true' }] }), action('end')]),
    );
    run.advance('first');
    run.engine({ type: 'gatesFinished', id: checking(run)?.id ?? '', receipts: [{ gate: 0, pass: true }] });
    expect(run.status()).toMatchObject({ step: 'polish', ralphIteration: 2 });
  });

  test('the last iteration ends the step whether until holds or not', () => {
    const run = polish();
    for (const output of ['first', 'second', 'third']) {
      run.advance(output);
      run.gates({ red: 'npm run lint' });
    }
    expect(run.state.step).toBe('end');
  });

  test('a red gate keeps the iteration even when until holds', () => {
    const run = new Run(
      workflow([ralph('polish', 3, { gate: [{ run: 'make' }], until: [{ run: 'lint' }] }), action('end')]),
    );
    run.advance('first');
    run.gates({ red: 'make' });
    expect(run.status()).toMatchObject({ ralphIteration: 1, failed_gates: [{ what: 'make' }] });
    run.advance('again');
    run.gates();
    expect(run.state.step).toBe('end');
  });

  test('what must hold again counts only in the iteration that ends the run', () => {
    const definition = workflow([
      action('build', { gate: [{ run: 'npm test', rerun: true }] }),
      ralph('polish', 2, { until: [{ run: 'lint' }] }),
    ]);
    const run = new Run(definition);
    run.advance('built');
    run.gates();
    run.advance('first');
    run.gates({ red: true });
    expect(run.status()).toMatchObject({ ralphIteration: 2 });
    run.advance('second');
    run.gates({ red: 'npm test' });
    expect(run.status()).toMatchObject({ status: 'running', ralphIteration: 2 });
    run.advance('third');
    run.gates({ red: 'lint' });
    expect(run.state.status).toBe('complete');
  });

  test('a review comes after the last iteration only', () => {
    const run = new Run(workflow([ralph('polish', 2, { review: { by: 'human' } })]));
    expect(run.advance('first')).toMatchObject({ ralphIteration: 2, status: 'running' });
    expect(run.advance('second')).toMatchObject({ status: 'waiting' });
  });
});
