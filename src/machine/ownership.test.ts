import { describe, expect, test } from 'vitest';
import { action, cursor, loop, Run, workflow } from '../../test/kit/run.ts';
import type { Caller, PrincipalKind } from '../schema/index.ts';

type Actor = NonNullable<Caller['actor']>;

const by = (
  subject: string,
  more: { kind?: PrincipalKind; token?: string; parent?: string } = {},
): Actor => ({
  kind: 'agent',
  principal: { kind: 'agent', subject, token: `${subject}-1`, ...more },
});
const engineOf = (subject: string, kind: PrincipalKind): Actor => ({
  ...by(subject, { kind }),
  kind: 'engine',
});
const person: Actor = { kind: 'person', name: 'ada', principal: { kind: 'person', subject: 'ada' } };

const claude = by('claude');
const thief = by('thief');

describe('S4: sessions and tasks', () => {
  const started = () => {
    const run = new Run(workflow([loop('build', { parallel: 4 })], { loops: { build: [{ id: 'do' }] } }));
    run.tasks('build', 'a', 'b', 'c');
    const { at = '' } = run.send({ type: 'claim', holder: 's1', session: 's1', actor: claude });
    run.send({
      type: 'session',
      session: 's1',
      actor: claude,
      event: { type: 'started', host: 'claude-code' },
    });
    return { run, at };
  };

  test('a task that another principal holds is refused, with its handle or without', () => {
    const { run, at } = started();
    const taken = { code: 'not_yours', params: { what: 'task', owner: 'claude' } };
    for (const session of ['s9', undefined]) {
      const caller = { actor: thief, ...(session && { session }) };
      expect(run.send({ type: 'advance', at, output: 'x', ...caller })).toMatchObject(taken);
      expect(run.send({ type: 'fail', at, reason: 'x', ...caller })).toMatchObject(taken);
      expect(run.send({ type: 'ask', at, text: 'x', ...caller })).toMatchObject(taken);
    }
    expect(run.send({ type: 'advance', output: 'x', actor: thief })).toHaveProperty('code');
    expect(cursor(run)?.lease).toMatchObject({ holder: 's1', owner: { kind: 'agent', subject: 'claude' } });
  });

  test('an agent that calls itself the engine is refused as well, and a runner is not', () => {
    const { run, at } = started();
    const fail = { type: 'fail', at, reason: 'x' } as const;
    const block = { type: 'block', at, reason: 'x' } as const;
    for (const command of [fail, block])
      expect(run.send({ ...command, actor: engineOf('thief', 'agent') })).toMatchObject({
        code: 'not_yours',
      });
    expect(cursor(run)?.waiting).toBeUndefined();
    expect(run.send({ ...block, actor: engineOf('ci', 'runner') })).not.toHaveProperty('code');
  });

  test('the driver of one principal is not replaced by another, and its merges are not reported by it', () => {
    const { run } = started();
    const process = { pid: 11, machine: 'laptop' };
    const take = { type: 'drive', change: 'take', process } as const;
    run.send({ ...take, actor: engineOf('ci', 'runner') });
    expect(run.send({ ...take, gone: 1, actor: engineOf('thief', 'agent') })).toMatchObject({
      code: 'driver_held',
    });
    const merged = { type: 'mergeFinished', epoch: 1, task: 'a', result: 'merged' } as const;
    expect(run.send({ ...merged, actor: engineOf('thief', 'agent') })).toMatchObject({
      code: 'stale_driver',
    });
    run.send({ ...take, gone: 1, actor: engineOf('ci', 'runner') });
    expect(run.state.driver).toMatchObject({ epoch: 2, owner: { subject: 'ci' } });
  });

  test('a session of another principal is refused: used, taken over or ended', () => {
    const { run } = started();
    const refused = { code: 'not_yours', params: { what: 'session', owner: 'claude' } };
    expect(run.send({ type: 'advance', output: 'x', session: 's1', actor: thief })).toMatchObject(refused);
    expect(run.send({ type: 'claim', holder: 's1', session: 's1', actor: thief })).toMatchObject(refused);
    const end = { type: 'session', session: 's1', event: { type: 'ended' } } as const;
    expect(run.send({ ...end, actor: thief })).toMatchObject(refused);
    const takeover = { type: 'session', session: 's9', event: { type: 'started', from: 's1' } } as const;
    expect(run.send({ ...takeover, actor: thief })).toMatchObject(refused);
    expect(cursor(run)?.lease?.holder).toBe('s1');
    expect(run.send({ ...takeover, actor: claude })).not.toHaveProperty('code');
    expect(cursor(run)?.lease?.holder).toBe('s9');
  });

  test('a rotated token keeps what its subject has, and so does a token made with it', () => {
    const { run, at } = started();
    const rotated = by('claude', { token: 'claude-2' });
    expect(run.send({ type: 'status', session: 's1', at, actor: rotated })).not.toHaveProperty('code');
    const child = by('claude/1', { parent: 'claude' });
    expect(run.send({ type: 'advance', session: 's1', at, output: 'x', actor: child })).not.toHaveProperty(
      'code',
    );
    expect(run.state.tasks.build?.byId.a?.end).toBe('done');
  });

  test('an expired task goes to the next one that claims it, and a person may do everything', () => {
    const { run, at } = started();
    expect(run.send({ type: 'status', at, actor: person })).not.toHaveProperty('code');
    run.now += 31 * 60_000;
    run.send({ type: 'claim', holder: 's9', session: 's9', task: 'a', actor: thief });
    expect(cursor(run)?.lease).toMatchObject({ holder: 's9', owner: { subject: 'thief' } });
  });

  test('without a server nobody proves anything, and nothing is refused', () => {
    const { run, at } = started();
    const plain = new Run(workflow([action('work')]));
    expect(plain.advance('done', { session: 's1' })).not.toHaveProperty('code');
    expect(JSON.stringify(plain.events)).not.toMatch(/owner|author|principal|reportedBy/);
    // A run that was begun on a server and moved to a laptop belongs to the one who has the files.
    expect(run.send({ type: 'advance', session: 's1', at, output: 'x' })).not.toHaveProperty('code');
  });
});

describe('S4: receipts', () => {
  const checking = () => {
    const gated = workflow([
      action('work', { gate: [{ run: 'npm test', timeout: 60 }], review: { by: 'human' } }),
    ]);
    const run = new Run(gated);
    run.send({ type: 'advance', output: 'done', actor: claude });
    return { run, id: cursor(run)?.checking?.id ?? '' };
  };
  const green = [{ gate: 0, pass: true, exit: 0 }];

  test.each([
    ['agent', 'agent'],
    ['person', 'agent'],
    ['runner', undefined],
  ] as const)("reported by the token of kind %s are labelled '%s'", (kind, label) => {
    const { run, id } = checking();
    run.send({ type: 'gatesFinished', id, receipts: green, actor: engineOf('x', kind) });
    expect(cursor(run)?.waiting).toMatchObject({ kind: 'review', author: { subject: 'claude' } });
    expect(cursor(run)?.receipts?.[0]?.reportedBy).toBe(label);
  });

  test('that a runner takes over from an agent keep their label, and those that it has seen itself do not', () => {
    const gates = { gate: [{ run: 'npm test' }] };
    const again = (kind: PrincipalKind) => {
      const run = new Run(workflow([action('work', gates), action('verify', gates), action('end')]));
      const report = (reused: boolean, actor: Actor) => {
        run.send({ type: 'advance', output: reused ? 'verified' : 'done', actor: claude });
        const { id = '' } = cursor(run)?.checking ?? {};
        const receipts = [{ gate: 0, pass: true, tree: 't1', ...(reused && { reused: true as const }) }];
        run.send({ type: 'gatesFinished', id, receipts, actor });
      };
      report(false, engineOf('x', kind));
      report(true, engineOf('ci', 'runner'));
      return run.state.outputs.verify?.receipts[0]?.reportedBy;
    };
    expect(again('agent')).toBe('agent');
    expect(again('runner')).toBeUndefined();
  });

  test('with a baseline that an agent reported are labelled', () => {
    const gated = workflow([action('work', { gate: [{ run: 'npm test', baseline: true }] }), action('end')]);
    const run = new Run(gated);
    const report = (pass: boolean, actor: Actor) => {
      const { id = '' } = cursor(run)?.checking ?? {};
      run.send({ type: 'gatesFinished', id, receipts: [{ gate: 0, pass, exit: pass ? 0 : 1 }], actor });
    };
    run.send({ type: 'status', actor: claude });
    report(false, engineOf('claude', 'agent'));
    run.send({ type: 'advance', output: 'x', actor: claude });
    report(true, engineOf('ci', 'runner'));
    expect(run.state.outputs.work?.receipts[0]).toMatchObject({ before: 'fail', reportedBy: 'agent' });
  });

  test.each([
    ['agent', 'agent'],
    ['runner', undefined],
  ] as const)(
    "of a merge that a driver with a token of kind %s reported are labelled '%s'",
    (kind, label) => {
      const run = new Run(workflow([loop('build', { parallel: 2 })], { loops: { build: [{ id: 'do' }] } }));
      const actor = engineOf('x', kind);
      run.send({ type: 'drive', change: 'take', process: { pid: 11, machine: 'laptop' }, actor });
      run.tasks('build', 'a', 'b');
      const { at = '' } = run.send({ type: 'claim', holder: 's1', task: 'a', session: 's1', actor: claude });
      run.send({ type: 'advance', at, output: 'x', session: 's1', actor: claude });
      const merge = { epoch: 1, task: 'a', actor };
      run.send({ type: 'mergeStarted', ...merge, base: 'b0', commit: 'c0' });
      run.send({ type: 'mergeFinished', ...merge, result: 'merged', receipts: green, gates: ['npm test'] });
      const merged = run.events.flatMap((event) =>
        event.type === 'merge.finished' ? (event.receipts ?? []) : [],
      );
      expect(merged.map(({ what, reportedBy }) => [what, reportedBy])).toEqual([['npm test', label]]);
    },
  );

  test('a deadline is not later than the gates may take', () => {
    const { run, id } = checking();
    const runner = { pid: 1, host: 'nowhere' };
    run.send({
      type: 'gatesStarted',
      id,
      deadline: Date.UTC(2125, 0),
      runner,
      actor: engineOf('thief', 'agent'),
    });
    expect(cursor(run)?.checking?.deadline).toBe(run.now + 120_000);
    run.now += 120_001;
    expect(run.advance('again', { at: 'k3f9x2ab:work#1' })).toMatchObject({ status: 'running' });
  });

  test('gates that one principal runs are neither reported nor declared dead by another', () => {
    const { run, id } = checking();
    const runner = { pid: 1, host: 'laptop' };
    run.send({ type: 'gatesStarted', id, runner, actor: engineOf('claude', 'agent') });
    const report = { type: 'gatesFinished', id, receipts: green, runner } as const;
    expect(run.send({ ...report, actor: engineOf('thief', 'agent') })).toMatchObject({ code: 'stale_gates' });
    run.send({ type: 'status', runnerAlive: false, actor: thief });
    expect(cursor(run)?.checking?.id).toBe(id);
    run.send({ ...report, actor: engineOf('claude', 'agent') });
    expect(cursor(run)?.waiting).toMatchObject({ kind: 'review' });
  });
});

describe('S4: reviews', () => {
  const waiting = (review: { by: string; independent?: boolean }) => {
    const run = new Run(workflow([action('work', { review }), action('end')]));
    run.send({ type: 'advance', output: 'done', session: 's1', actor: claude });
    return { run, at: 'k3f9x2ab:work#1' };
  };
  const approve = { type: 'review', verdict: 'approve' } as const;

  test('by the same principal under another session name are labelled', () => {
    const { run, at } = waiting({ by: 'critic' });
    run.send({ ...approve, at, session: 's2', actor: claude });
    expect(run.last[0]).toMatchObject({
      type: 'review.decided',
      ownWork: true,
      principal: { kind: 'agent', subject: 'claude' },
    });
    expect(run.state.outputs.work).toMatchObject({ ownWork: true });
  });

  test('by another principal have no label', () => {
    const { run, at } = waiting({ by: 'critic' });
    run.send({ ...approve, at, session: 's2', actor: by('critic') });
    expect(run.last[0]).toMatchObject({ principal: { subject: 'critic' } });
    expect(run.last[0]).not.toHaveProperty('ownWork');
    expect(run.state.outputs.work).not.toHaveProperty('ownWork');
  });

  test('that must be independent take another principal, or a person', () => {
    const refused = { code: 'person_only', params: { what: 'independent_review' } };
    const { run, at } = waiting({ by: 'critic', independent: true });
    expect(run.send({ ...approve, at, session: 's2', actor: claude })).toMatchObject(refused);
    expect(
      run.send({ ...approve, at, session: 's2', actor: by('claude', { token: 'claude-2' }) }),
    ).toMatchObject(refused);
    expect(
      run.send({ ...approve, at, session: 's2', actor: { kind: 'agent', name: 'critic' } }),
    ).toMatchObject(refused);
    expect(
      run.send({ ...approve, at, session: 's2', actor: by('claude/1', { parent: 'claude' }) }),
    ).toMatchObject({
      step: 'end',
    });
    const other = waiting({ by: 'critic', independent: true });
    expect(other.run.send({ ...approve, at: other.at, actor: person })).toMatchObject({ step: 'end' });
  });

  test('of work that a runner reports are judged by the session that did it', () => {
    const run = new Run(workflow([action('work', { review: { by: 'critic', independent: true } })]));
    const ci = by('ci', { kind: 'runner' });
    const started = { type: 'started', as: 'work' } as const;
    run.send({ type: 'session', session: 's1', actor: ci, event: started });
    run.send({ type: 'advance', output: 'done', session: 's1', actor: ci });
    const work = { subject: 'ci/work', parent: 'ci' };
    expect(cursor(run)?.waiting).toMatchObject({ author: work });
    const child = by('ci/work', { parent: 'ci' });
    const at = 'k3f9x2ab:work#1';
    expect(run.send({ ...approve, at, session: 's2', actor: child })).toMatchObject({ code: 'person_only' });
    // Only a runner is believed whose session it is.
    run.send({ type: 'session', session: 's3', actor: thief, event: { ...started, as: 'another' } });
    expect(run.state.sessions.s3?.owner).toMatchObject({ subject: 'thief' });
    const reviewer = by('ci/review-1', { parent: 'ci' });
    expect(run.send({ ...approve, at, session: 's2', actor: reviewer })).toMatchObject({
      status: 'complete',
    });
  });

  test('an agent cannot abandon a run', () => {
    const { run, at } = waiting({ by: 'critic' });
    const abandoned = run.send({
      type: 'review',
      verdict: 'abandon',
      at,
      session: 's2',
      actor: by('critic'),
    });
    expect(abandoned).toMatchObject({ code: 'person_only', params: { what: 'abandon' } });
    expect(run.send({ type: 'review', verdict: 'abandon', at, actor: person })).toMatchObject({
      status: 'failed',
    });
  });
});
