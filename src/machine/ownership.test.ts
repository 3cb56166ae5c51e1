import { describe, expect, test } from 'vitest';
import { type Actor, by, claude, engineOf, person, thief } from '../../test/kit/actors.ts';
import { action, cursor, loop, Run, workflow } from '../../test/kit/run.ts';
import type { PrincipalKind } from '../schema/index.ts';

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

  test('[P10/1] a task that another principal holds is refused, with its handle or without', () => {
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

  test('[P10/2] the driver of an agent is replaced by one of a runner, and not by one of another agent', () => {
    const { run } = started();
    const take = { type: 'drive', change: 'take', process: { pid: 11, machine: 'laptop' } } as const;
    run.send({ ...take, actor: engineOf('thief', 'agent') });
    expect(run.send({ ...take, actor: engineOf('claude', 'agent') })).toMatchObject({ code: 'driver_held' });
    run.send({ ...take, actor: engineOf('ci', 'runner') });
    expect(run.state.driver).toMatchObject({ epoch: 2, owner: { subject: 'ci' } });
    expect(run.send({ ...take, actor: engineOf('thief', 'agent') })).toMatchObject({ code: 'driver_held' });
  });

  test('[P10/1] a session of another principal is refused: used, taken over or ended', () => {
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
  ] as const)("[P10/3] reported by the token of kind %s are labelled '%s'", (kind, label) => {
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

  test('[P10/4] a deadline is not later than the gates may take', () => {
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

  test('[P10/2] gates that another agent has begun are taken over by a runner, and by who did the work', () => {
    const thieves = { pid: 1, host: 'nowhere' };
    const own = { pid: 2, host: 'laptop' };
    for (const [by, isTaken] of [
      [engineOf('ci', 'runner'), true],
      [engineOf('claude', 'agent'), true],
      [engineOf('critic', 'agent'), false],
    ] as const) {
      const { run, id } = checking();
      run.send({ type: 'gatesStarted', id, runner: thieves, actor: engineOf('thief', 'agent') });
      run.send({ type: 'gatesStarted', id, runner: own, actor: by });
      expect(cursor(run)?.checking?.runner).toEqual(isTaken ? own : thieves);
      const kept = run.send({ type: 'gatesStarted', id, runner: thieves, actor: engineOf('thief', 'agent') });
      expect('code' in kept).toBe(isTaken);
    }
  });

  test('carry no other output than what the author said', () => {
    const { run, id } = checking();
    const swapped = { type: 'gatesFinished', id, receipts: green, output: 'Another plan' } as const;
    run.send({ ...swapped, actor: engineOf('thief', 'agent') });
    expect(cursor(run)).toMatchObject({ output: 'done', waiting: { author: { subject: 'claude' } } });
  });

  test.each([
    ['agent', 'waiting'],
    ['runner', 'complete'],
  ] as const)(
    "[P10/5] of an approval whose first receipts were a runner's: with the token of kind %s the run is %s",
    (kind, status) => {
      const { run, id } = checking();
      run.send({ type: 'gatesFinished', id, receipts: green, tree: 't1', actor: engineOf('ci', 'runner') });
      const approve = { type: 'review', verdict: 'approve', at: 'k3f9x2ab:work#1', actor: person } as const;
      run.send({ ...approve, tree: 't2' });
      const again = cursor(run)?.checking?.id ?? '';
      const report = { type: 'gatesFinished', id: again, receipts: green, tree: 't2' } as const;
      expect(run.send({ ...report, actor: engineOf('x', kind) })).toMatchObject({ status });
      if (status === 'complete') return;
      expect(cursor(run)).toMatchObject({
        waiting: { kind: 'review', by: 'human', author: { subject: 'claude' } },
        receipts: [{ reportedBy: 'agent' }],
      });
      expect(run.send({ ...approve, tree: 't2' })).toMatchObject({ status: 'complete' });
    },
  );

  test.each([
    ['agent', 'agent'],
    ['runner', undefined],
  ] as const)(
    "[P10/3] tasks of a locked list that the token of kind %s reported are labelled '%s'",
    (kind, label) => {
      const list = loop('build', { tasks: { checklist: 'TODO.md', locked: true } });
      const run = new Run(workflow([list], { loops: { build: [{ id: 'do' }] } }));
      const { at = '' } = run.send({ type: 'status', actor: claude });
      run.send({ type: 'prepared', at, tasks: [{ id: 'a', title: 'A' }], actor: engineOf('x', kind) });
      expect(run.state.tasks.build?.order).toEqual(['a']);
      expect(run.state.tasks.build?.reportedBy).toBe(label);
    },
  );

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
