import { describe, expect, test } from 'vitest';
import { checking, gated } from '../../test/kit/gated-run.ts';
import { action, Run, workflow } from '../../test/kit/run.ts';

describe('what advance refuses', () => {
  test('a read-only position whose tree has changed', () => {
    const run = new Run(workflow([action('a'), action('look', { read_only: true }), action('end')]));
    run.advance('done', { tree: 't1' });
    expect(run.advance('looked', { tree: 't2' })).toMatchObject({ code: 'tree_changed' });
    expect(run.state.step).toBe('look');
    expect(run.advance('looked', { tree: 't1' })).toMatchObject({ step: 'end' });
  });

  test('a read-only position where a tree is unknown is not compared', () => {
    const run = new Run(workflow([action('a'), action('look', { read_only: true }), action('end')]));
    run.advance('done');
    expect(run.advance('looked', { tree: 't2' })).toMatchObject({ step: 'end' });
    const other = new Run(workflow([action('a'), action('look', { read_only: true }), action('end')]));
    other.advance('done', { tree: 't1' });
    expect(other.advance('looked')).toMatchObject({ step: 'end' });
  });

  test('a required artifact that is missing', () => {
    const run = new Run(workflow([action('a'), action('b')]));
    expect(run.advance('x', { missing: ['spec'] })).toMatchObject({
      code: 'missing_artifact',
      params: { at: 'k3f9x2ab:a#1', missing: ['spec'] },
      at: 'k3f9x2ab:a#1',
    });
    expect(run.advance('x', { missing: [] })).toMatchObject({ step: 'b' });
  });

  test('an output over 256 KB', () => {
    const run = new Run(workflow([action('a'), action('b')]));
    const limit = 256 * 1024;
    expect(run.advance('x'.repeat(limit + 1))).toMatchObject({ code: 'bad_output' });
    const long = { opening: 'x', digest: 'd', bytes: limit + 1 };
    expect(run.send({ type: 'advance', output: long })).toMatchObject({ code: 'bad_output' });
    expect(run.send({ type: 'advance', output: { ...long, bytes: limit } })).toMatchObject({ step: 'b' });
    expect(run.state.outputs.a?.text).toMatchObject({ digest: 'd' });
  });

  test('bytes are counted, not characters', () => {
    const run = new Run(workflow([action('a'), action('b')]));
    expect(run.advance('語'.repeat(90_000))).toMatchObject({ code: 'bad_output' });
    expect(run.advance('語'.repeat(87_000))).toMatchObject({ step: 'b' });
  });

  test('nothing that was meant for one runner is taken from another, or after the deadline', () => {
    const run = gated();
    run.advance('built', { session: 'A' });
    const { id = '', deadline = 0 } = checking(run) ?? {};
    const finish = (runner?: { pid: number; host: string }) =>
      run.engine({
        type: 'gatesFinished',
        id,
        receipts: [{ gate: 0, pass: true }],
        ...(runner ? { runner } : {}),
      });
    run.engine({
      type: 'gatesStarted',
      id,
      runner: { pid: 1, host: 'h' },
      deadline: Number.POSITIVE_INFINITY,
    });
    expect(checking(run)?.deadline).toBe(deadline);
    expect(finish({ pid: 2, host: 'h' })).toMatchObject({ code: 'stale_gates' });
    expect(finish()).toMatchObject({ code: 'stale_gates' });
    run.now = deadline + 1;
    expect(finish({ pid: 1, host: 'h' })).toMatchObject({ code: 'stale_gates' });
    expect(run.types()).toEqual(['gates.interrupted']);
    run.advance('built', { session: 'A' });
    run.gates();
    expect(run.state.last).toMatchObject({ kind: 'advance', session: 'A' });
  });
});
