import { describe, expect, test } from 'vitest';
import { action, Run, workflow } from '../../test/kit/run.ts';
import { respond } from './index.ts';

const definition = workflow([action('work', { on_fail: 'abort' })], {
  finally: [
    { id: 'stop', run: 'docker compose down' },
    { id: 'sweep', run: 'rm -rf tmp' },
  ],
});
const engine = { actor: { kind: 'engine' as const } };
const runner = { pid: 7, host: 'here' };
const person = { actor: { kind: 'person' as const } };
const effects = ({ definition: of, state }: Run) =>
  respond(of, state, { type: 'status', now: 1 }).effects.map(({ type }) => type);

const start = (run: Run) => run.send({ ...engine, type: 'cleanupStarted', runner });
const finish = (run: Run, step: string, pass = true, by = runner) =>
  run.send({
    ...engine,
    type: 'cleanupFinished',
    step,
    pass,
    runner: by,
    ...(pass ? {} : { exit: 1, tail: 'no' }),
  });

describe('[L/finally]', () => {
  test.each([
    ['complete', (run: Run) => run.advance('done')],
    ['failed', (run: Run) => run.send({ type: 'fail', reason: 'no' })],
    ['cancelled', (run: Run) => run.send({ ...person, type: 'cancel' })],
  ])('a run that is %s asks for it until it is begun, and stays so', (status, end) => {
    const run = new Run(definition);
    expect(effects(run)).not.toContain('cleanUp');
    end(run);
    expect(effects(run)).toContain('cleanUp');
    start(run);
    expect(effects(run)).not.toContain('cleanUp');
    finish(run, 'stop', false);
    finish(run, 'sweep');
    expect(run.state).toMatchObject({
      status,
      cleanup: {
        done: [
          { step: 'stop', pass: false, exit: 1, tail: 'no' },
          { step: 'sweep', pass: true },
        ],
      },
    });
  });

  test('only once for an end, by the one that began, each command once', () => {
    const run = new Run(definition);
    expect(start(run)).toMatchObject({ code: 'stale_gates' });
    run.advance('done');
    expect(finish(run, 'stop')).toMatchObject({ code: 'stale_gates' });
    start(run);
    expect(start(run)).toMatchObject({ code: 'stale_gates' });
    expect(finish(run, 'stop', true, { pid: 8, host: 'here' })).toMatchObject({ code: 'stale_gates' });
    expect(finish(run, 'other')).toMatchObject({ code: 'stale_gates' });
    finish(run, 'stop');
    expect(finish(run, 'stop')).toMatchObject({ code: 'stale_gates' });
  });

  test('only the engine reports it', () => {
    const run = new Run(definition);
    run.advance('done');
    expect(run.send({ type: 'cleanupStarted' })).toMatchObject({ code: 'engine_only' });
    expect(run.send({ type: 'cleanupFinished', step: 'stop', pass: true })).toMatchObject({
      code: 'engine_only',
    });
  });

  test('a run that is taken up again cleans up again at its next end', () => {
    const run = new Run(definition);
    run.advance('done');
    start(run);
    finish(run, 'stop');
    run.send({ ...person, type: 'rewind', to: 'work' });
    expect(run.state.cleanup).toBeUndefined();
    expect(finish(run, 'sweep')).toMatchObject({ code: 'stale_gates' });
    run.advance('done again');
    expect(run.state.cleanup).toEqual({ state: 'pending', endedAt: run.now });
  });

  test('a workflow without it asks for nothing', () => {
    const run = new Run(workflow([action('work')]));
    run.advance('done');
    expect(run.state.cleanup).toBeUndefined();
    expect(start(run)).toMatchObject({ code: 'stale_gates' });
  });
});
