import { describe, expect, test } from 'vitest';
import { action, loop, Run, ralph, workflow } from '../../test/kit/run.ts';
import type { Command } from '../schema/index.ts';
import { adoptedDefinition, slug } from './adopt.ts';
import { decide } from './decide.ts';
import { mayStop } from './may-stop.ts';

describe('start', () => {
  test('[000/9] the summary is trimmed, and longer than 100 characters becomes 97 and three dots', () => {
    const summary = (text: string) => {
      const run = new Run(workflow([action('a')]), { start: false });
      run.send({ type: 'start', run: 'x-1-a', summary: text });
      return run.state.summary;
    };
    expect(summary('  short  ')).toBe('short');
    expect(summary('x'.repeat(100))).toBe('x'.repeat(100));
    expect(summary('x'.repeat(101))).toBe(`${'x'.repeat(97)}...`);
    expect(summary('   ')).toBeUndefined();
  });

  test('[000/13] a second start restores the run where it stands', () => {
    const run = new Run(workflow([action('a'), action('b', { context: 'clear' })]));
    run.advance('done');
    const again = run.send({ type: 'start', run: 'other-1-zzz' });
    expect(again).toMatchObject({ run: 'demo-20261115-k3f9x2ab', step: 'b', instructions: 'Do b' });
    expect(run.types()).toEqual(['boundary.released']);
  });

  test('inputs are checked against what the workflow declares', () => {
    const definition = workflow(
      [action('a', { instructions: 'Fix {input.issue} at {input.level}, {input.dry}' })],
      {
        inputs: {
          issue: { type: 'string', required: true },
          level: { type: 'number', default: 3 },
          dry: { type: 'boolean' },
        },
      },
    );
    const start = (inputs?: Record<string, string | number | boolean>) => {
      const run = new Run(definition, { start: false });
      return run.send({ type: 'start', run: 'x-1-a', ...(inputs ? { inputs } : {}) });
    };
    const bad = (params: object) => ({ code: 'bad_input', params: { workflow: 'demo', ...params } });
    expect(start()).toEqual(bad({ why: 'missing', name: 'issue' }));
    expect(start({ issue: 7 })).toEqual(bad({ why: 'type', name: 'issue', type: 'string' }));
    expect(start({ issue: 'x', level: '3' })).toEqual(bad({ why: 'type', name: 'level', type: 'number' }));
    expect(start({ issue: 'x', isue: 'y' })).toEqual(
      bad({ why: 'unknown', name: 'isue', inputs: ['issue', 'level', 'dry'] }),
    );
    expect(start({ issue: 'login', dry: true })).toMatchObject({ instructions: 'Fix login at 3, true' });
    expect(start({ issue: 'login' })).toMatchObject({ instructions: 'Fix login at 3, ' });
    const none = new Run(workflow([action('a')]), { start: false });
    expect(none.send({ type: 'start', run: 'x-1-a', inputs: { toString: 'x' } })).toEqual(
      bad({ why: 'unknown', name: 'toString', inputs: [] }),
    );
  });

  test('a start keeps the hash of the definition and what is known of its session', () => {
    const run = new Run(workflow([action('a')]), { start: false });
    const facts = {
      host: 'claude-code',
      witness: 'hooks' as const,
      environment: { hostname: 'a' },
      worktree: 'w',
    };
    run.send({ type: 'start', run: 'x-1-a', session: 'A', hash: 'sha256:1', facts });
    expect(run.state.hash).toBe('sha256:1');
    expect(run.state.sessions.A).toEqual({ ...facts, startedAt: run.now, completed: [], resets: 0 });
    const plain = new Run(workflow([action('a')]), { start: false });
    plain.send({ type: 'start', run: 'x-1-a' });
    expect(plain.state.sessions).toEqual({});
  });

  test('nothing but a start, an adoption or an import begins a run', () => {
    const definition = workflow([action('a')]);
    const commands: Command[] = [
      { now: 0, type: 'status' },
      { now: 0, type: 'advance', output: 'x' },
      { now: 0, type: 'cancel' },
    ];
    for (const command of commands)
      expect(decide(definition, null, command)).toMatchObject({ code: 'not_started' });
  });
});

describe('advance', () => {
  test('[000/7] outputs stand under step, step.iteration and step.task.subStep', () => {
    const definition = workflow([action('plan'), ralph('polish', 2), loop('build')], {
      loops: { build: [{ id: 'code', instructions: 'C' }] },
    });
    const run = new Run(definition);
    run.advance('a');
    run.advance('b');
    run.advance('c');
    run.tasks('build', 't1');
    run.advance('d');
    const texts = Object.entries(run.state.outputs).map(([key, output]) => [key, output.text]);
    expect(texts).toEqual([
      ['plan', 'a'],
      ['polish.1', 'b'],
      ['polish.2', 'c'],
      ['build.t1.code', 'd'],
    ]);
    expect(run.state.status).toBe('complete');
  });

  test('[000/13] advance on a run that is not running returns its status', () => {
    const run = new Run(workflow([action('a')]));
    run.advance('done');
    expect(run.advance('more')).toMatchObject({ status: 'complete', phase: { status: 'completed' } });
    expect(run.last).toEqual([]);
    const cancelled = new Run(workflow([action('a')]));
    cancelled.person({ type: 'cancel', reason: 'changed my mind' });
    expect(cancelled.advance('more')).toMatchObject({ status: 'cancelled', reason: 'changed my mind' });
    expect(cancelled.status().action).toMatchObject({ do: 'nothing', because: 'cancelled' });
  });

  test('[000/13] an output that is not a string is an error', () => {
    const run = new Run(workflow([action('a')]));
    for (const output of [undefined, 7, null, ['x'], {}]) {
      // What an untyped caller may send.
      const command = { type: 'advance' as const, output: output as unknown as string };
      expect(run.send(command)).toEqual({ code: 'bad_output', params: { why: 'not_text' } });
    }
    expect(run.state.outputs).toEqual({});
  });

  test('[000/14] a step with an agent is delegated', () => {
    const run = new Run(
      workflow([action('plan'), action('check', { agent: 'reviewer' }), loop('build', { agent: 'coder' })], {
        loops: {
          build: [
            { id: 'a', instructions: 'A' },
            { id: 'b', instructions: 'B', agent: 'tester' },
          ],
        },
      }),
    );
    const plan = run.status();
    expect(plan).toMatchObject({ agent: null });
    expect(plan).not.toHaveProperty('delegate');
    expect(run.advance('x')).toMatchObject({ agent: 'reviewer', delegate: true });
    run.advance('y');
    expect(run.tasks('build', 't')).toMatchObject({ agent: 'coder', delegate: true });
    expect(run.advance('z')).toMatchObject({ agent: 'tester' });
  });

  test('repeating an accepted handle replays, whatever it says, and changes nothing', () => {
    const run = new Run(workflow([action('a'), action('b'), action('c')]));
    const at = run.status().at ?? '';
    run.advance('done', { at });
    expect(run.advance('done', { at })).toMatchObject({ replayed: true, at: 'k3f9x2ab:b#1', step: 'b' });
    expect(run.advance('something else', { at })).toMatchObject({ replayed: true });
    expect(run.last).toEqual([]);
    expect(run.state.outputs.a?.text).toBe('done');
  });

  test('without a handle the same output within a minute replays, and no longer', () => {
    const run = new Run(workflow([action('a'), action('b'), action('c')]));
    run.advance('done');
    run.now += 60_000;
    expect(run.advance('done')).toMatchObject({ replayed: true, step: 'b' });
    expect(run.advance('other')).toMatchObject({ step: 'c' });
    expect(run.advance('other')).toMatchObject({ replayed: true, step: 'c' });
    run.now += 60_001;
    expect(run.advance('other')).toMatchObject({ status: 'complete' });
  });

  test("without a handle another session's same words are not a replay", () => {
    const run = new Run(workflow([action('a'), action('b'), action('c')]));
    run.advance('done', { session: 'A' });
    expect(run.advance('done', { session: 'A' })).toMatchObject({ replayed: true, step: 'b' });
    expect(run.advance('done', { session: 'B' })).toMatchObject({ step: 'c' });
    expect(run.advance('done')).toMatchObject({ replayed: true, step: 'c' });
  });

  test('a handle replays the call that it took, and refuses the other', () => {
    const run = new Run(workflow([action('a', { on_fail: 'retry' }), action('b')]));
    const failed = run.status().at ?? '';
    run.send({ type: 'fail', reason: 'x', at: failed });
    expect(run.advance('done', { at: failed })).toMatchObject({
      code: 'stale_handle',
      params: { at: failed, was: 'failed' },
      action: { do: 'ask_status' },
    });
    const done = run.status().at ?? '';
    run.advance('done', { at: done });
    expect(run.send({ type: 'fail', reason: 'y', at: done })).toMatchObject({
      code: 'stale_handle',
      params: { at: done, was: 'advanced' },
      action: { do: 'ask_status' },
    });
    expect(run.send({ type: 'ask', text: 'What?', at: done })).toMatchObject({ code: 'stale_handle' });
    expect(run.state.questions).toEqual([]);
  });

  test('a foreign handle is refused also where the run waits or has ended', () => {
    const run = new Run(workflow([action('a', { review: { by: 'human' } })]));
    run.advance('x');
    expect(run.advance('x', { at: 'other:z#9' })).toMatchObject({ code: 'wrong_run' });
    run.person({ type: 'cancel' });
    expect(run.status({ at: 'garbage' })).toEqual({
      code: 'bad_handle',
      params: { given: 'garbage' },
      action: { do: 'ask_status' },
    });
    expect(run.status().phase?.status).toBe('blocked');
  });

  test('long outputs are compared by their digest', () => {
    const run = new Run(workflow([action('a'), action('b'), action('c')]));
    const long = { opening: 'x', digest: 'd1', bytes: 5000 };
    run.send({ type: 'advance', output: long });
    expect(run.send({ type: 'advance', output: { ...long } })).toMatchObject({ replayed: true });
    expect(run.send({ type: 'advance', output: { ...long, digest: 'd2' } })).toMatchObject({ step: 'c' });
  });

  test.each([
    ['rubbish', 'bad_handle'],
    ['k3f9x2ab:a#0', 'bad_handle'],
    ['zzz:a#1', 'wrong_run'],
    ['k3f9x2ab:a#2', 'stale_handle'],
    ['k3f9x2ab:b#1', 'stale_handle'],
    ['k3f9x2ab:__proto__#1', 'stale_handle'],
  ])('the handle %s is refused as %s, with the open one', (at, code) => {
    const run = new Run(workflow([action('a'), action('b')]));
    for (const reply of [
      run.advance('x', { at }),
      run.status({ at }),
      run.send({ type: 'fail', reason: 'x', at }),
    ]) {
      const open = 'k3f9x2ab:a#1';
      expect(reply).toMatchObject({ code, at: open, action: { do: 'continue', at: [open] } });
    }
  });
});

describe('fail', () => {
  test('retry takes the next visit, five times by default, then the run waits', () => {
    const run = new Run(workflow([action('a', { on_fail: 'retry' })]));
    for (let visit = 2; visit <= 6; visit += 1) {
      const reply = run.send({ type: 'fail', reason: `no ${visit}` });
      expect(reply).toMatchObject({
        at: `k3f9x2ab:a#${visit}`,
        status: 'running',
        last_failure: `no ${visit}`,
      });
    }
    expect(run.send({ type: 'fail', reason: 'no 6' })).toMatchObject({ replayed: true, at: 'k3f9x2ab:a#6' });
    expect(run.send({ type: 'fail', reason: 'no' })).toMatchObject({
      status: 'waiting',
      waiting: { for: 'blocked', by: 'human', reason: 'no' },
    });
    expect(run.status()).toMatchObject({ phase: { status: 'blocked' } });
  });

  test('abort fails the run; a step without on_fail waits', () => {
    const run = new Run(workflow([action('a', { on_fail: 'abort' }), action('b')]));
    expect(run.send({ type: 'fail', reason: 'no' })).toMatchObject({ status: 'failed', reason: 'no' });
    expect(run.send({ type: 'fail', reason: 'again' })).toMatchObject({ status: 'failed', reason: 'no' });
    const waits = new Run(workflow([action('a'), action('b')]));
    waits.send({ type: 'fail', reason: 'x'.repeat(3000) });
    expect(waits.types()).toEqual(['position.failed', 'position.blocked']);
    expect(waits.last[0]).toMatchObject({ reason: 'x'.repeat(2000) });
  });
});

describe('rewind and cancel', () => {
  const middle = (): Run => {
    const definition = workflow([action('a'), loop('build'), action('c')], {
      loops: { build: [{ id: 'code', instructions: 'C', gate: [{ run: 'make' }] }] },
    });
    const run = new Run(definition);
    run.advance('first');
    run.tasks('build', 't1', 't2');
    run.advance('coded 1');
    run.gates();
    return run;
  };

  test('back to a step: later receipts and handles are void, task lists stay, visits go on', () => {
    const run = middle();
    const late = run.status().at ?? '';
    run.advance('coded 2', { at: late });
    run.gates();
    expect(run.state.step).toBe('c');
    expect(run.person({ type: 'rewind', to: 'build' })).toMatchObject({
      task: { id: 't1' },
      at: 'k3f9x2ab:build/t1/code#2',
    });
    expect(Object.keys(run.state.outputs)).toEqual(['a']);
    expect(run.state.tasks.build?.byId).toEqual({
      t1: { id: 't1', title: 'Task t1' },
      t2: { id: 't2', title: 'Task t2' },
    });
    expect(run.advance('late', { at: late })).toMatchObject({ code: 'stale_handle' });
    expect(run.advance('late', { at: 'k3f9x2ab:build/t1/code#1' })).toMatchObject({ code: 'stale_handle' });
    expect(run.person({ type: 'rewind', to: 'a' })).toMatchObject({ at: 'k3f9x2ab:a#2' });
    expect(run.state.outputs).toEqual({});
  });

  test('a rewind asks for the context action of the step anew', () => {
    const run = new Run(workflow([action('a', { context: 'clear' }), action('b')]));
    run.status();
    run.advance('done');
    run.person({ type: 'rewind', to: 'a' });
    expect(run.state.cursors.a?.boundary).toMatchObject({ state: 'pending' });
    expect(run.status()).toMatchObject({ contextAction: '/clear', at: 'k3f9x2ab:a#2' });
  });

  test('an agent does not go back by itself, and the way there asks for its context action again', () => {
    const definition = workflow([action('a'), action('b', { budget: { turns: 1 } })], {
      transitions: [{ from: 'a', to: 'b', context: 'clear' }],
    });
    const run = new Run(definition);
    run.advance('done');
    run.send({ type: 'spend', turns: 1 });
    expect(run.send({ type: 'rewind', to: 'b' })).toMatchObject({ code: 'person_only' });
    expect(run.state.status).toBe('waiting');
    run.person({ type: 'rewind', to: 'b' });
    expect(run.state.cursors.b?.boundary).toEqual({ action: 'clear', state: 'pending' });
  });

  test('only to a step that was reached', () => {
    const run = middle();
    expect(run.person({ type: 'rewind', to: 'c' })).toMatchObject({
      code: 'unknown_step',
      params: { why: 'rewind', given: 'c', steps: ['a', 'build'] },
    });
    expect(run.person({ type: 'rewind', to: 'nope' })).toMatchObject({ code: 'unknown_step' });
  });

  test('a failed or complete run goes back, a cancelled one does not', () => {
    const complete = new Run(workflow([action('a'), action('b')]));
    complete.advance('x');
    complete.advance('y');
    expect(complete.person({ type: 'rewind', to: 'b' })).toMatchObject({
      status: 'running',
      at: 'k3f9x2ab:b#2',
    });
    const failed = new Run(workflow([action('a', { on_fail: 'abort' })]));
    failed.send({ type: 'fail', reason: 'x' });
    expect(failed.person({ type: 'rewind', to: 'a' })).toMatchObject({ status: 'running' });
    expect(failed.state).not.toHaveProperty('reason');
    const cancelled = new Run(workflow([action('a')]));
    cancelled.person({ type: 'cancel' });
    expect(cancelled.state.reason).toBe('cancelled');
    expect(cancelled.person({ type: 'rewind', to: 'a' })).toMatchObject({
      code: 'run_ended',
      params: { run: 'demo-20261115-k3f9x2ab', status: 'cancelled' },
    });
  });

  test.each(['agent', 'engine'] as const)('[U1] a run is not cancelled by an %s', (kind) => {
    const run = new Run(workflow([action('a')]));
    expect(run.send({ type: 'cancel', reason: 'done', actor: { kind } })).toMatchObject({
      code: 'person_only',
    });
    expect(run.state.status).toBe('running');
    expect(run.last).toEqual([]);
    expect(run.person({ type: 'cancel', reason: 'done' })).toMatchObject({ status: 'cancelled' });
  });

  test('an ended run answers, and takes nothing more', () => {
    const run = new Run(workflow([action('a')]));
    run.advance('x');
    for (const command of [
      { type: 'note', kind: 'decision', text: 'x' },
      { type: 'todo', content: 'x' },
      { type: 'ask', text: 'x' },
      { type: 'spend', turns: 1 },
      { type: 'cancel' },
      { type: 'claim', holder: 'A' },
    ] as const) {
      expect(run.send(command)).toMatchObject({
        code: 'run_ended',
        params: { run: 'demo-20261115-k3f9x2ab', status: 'complete' },
      });
    }
    expect(run.send({ type: 'start', run: 'x' })).toMatchObject({ status: 'complete' });
    expect(run.send({ type: 'session', session: 'A', event: { type: 'started' } })).toMatchObject({
      status: 'complete',
    });
    expect(run.last).toHaveLength(1);
  });
});

describe('notes, reading and sessions', () => {
  const run = () => new Run(workflow([action('a'), action('b')]));

  test('decisions, rejections and corrections are kept word for word within 3,000 characters', () => {
    const r = run();
    const prose = (length: number) =>
      'Sessions are stored in the database, never in browser storage. '
        .repeat(20)
        .slice(0, length - 1)
        .concat('.');
    for (let i = 0; i < 7; i += 1) r.send({ type: 'note', kind: 'decision', key: `k${i}`, text: prose(400) });
    expect(r.send({ type: 'note', kind: 'correction', text: prose(200) })).not.toHaveProperty('code');
    const full = r.send({ type: 'note', kind: 'rejection', text: 'z' });
    const keys = ['n1', 'n2', 'n3', 'n4', 'n5', 'n6', 'n7', 'n8'];
    expect(full).toMatchObject({
      code: 'notes_full',
      params: { why: 'size', unit: 'characters', limit: 3000, keys },
    });
    expect(r.send({ type: 'note', kind: 'reminder', text: 'z' })).not.toHaveProperty('code');
    const other = prose(399);
    expect(r.send({ type: 'note', kind: 'decision', key: 'k0', text: other })).not.toHaveProperty('code');
    expect(r.state.notes.filter((note) => note.key === 'k0')).toMatchObject([{ text: other, id: 'n10' }]);
    const ids = ['n2', 'n3', 'n4', 'n5', 'n6', 'n7', 'n8', 'n9', 'n10'];
    expect(r.state.notes.map((note) => note.id)).toEqual(ids);
  });

  test('dense text has the room of its tokens: a briefing must hold every note', () => {
    const r = run();
    const dense = (index: number) => `${index}: ${'決定事項を記録する'.repeat(40)}`;
    const answers = Array.from({ length: 8 }, (_, index) =>
      r.send({ type: 'note', kind: 'decision', text: dense(index) }),
    );
    expect(answers[0]).not.toHaveProperty('code');
    expect(answers.at(-1)).toMatchObject({ code: 'notes_full', params: { why: 'size', unit: 'tokens' } });
    expect(r.send({ type: 'note', kind: 'decision', key: 'n1', text: 'short' })).not.toHaveProperty('code');
  });

  test('a note supersedes only its own kind and key', () => {
    const r = run();
    r.send({ type: 'note', kind: 'decision', key: 'db', text: 'PostgreSQL' });
    r.send({ type: 'note', kind: 'rejection', key: 'db', text: 'MySQL' });
    r.send({ type: 'note', kind: 'decision', text: 'no key' });
    r.send({ type: 'note', kind: 'decision', text: 'no key either' });
    expect(r.state.notes.map((note) => note.text)).toEqual([
      'PostgreSQL',
      'MySQL',
      'no key',
      'no key either',
    ]);
  });

  test('a note is replaced by its id, and a key is a short word', () => {
    const r = run();
    r.send({ type: 'note', kind: 'decision', text: 'first' });
    r.send({ type: 'note', kind: 'rejection', key: 'n1', text: 'second' });
    expect(r.state.notes.map((note) => note.text)).toEqual(['second']);
    r.send({ type: 'note', kind: 'reminder', key: 'n2', text: 'third' });
    expect(r.state.notes.map((note) => note.text)).toEqual(['second', 'third']);
    for (const key of ['', ' x', '__proto__', 'x'.repeat(65), 'a/b']) {
      expect(r.send({ type: 'note', kind: 'variable', key, text: 'x' })).toMatchObject({ code: 'bad_note' });
    }
    r.send({ type: 'note', kind: 'variable', key: 'constructor', text: 'x' });
    expect(r.state.variables).toEqual({ constructor: 'x' });
  });

  test('reminders have their own room, artefacts and the to-do list have a limit', () => {
    const r = run();
    for (let i = 0; i < 7; i += 1)
      r.send({
        type: 'note',
        kind: 'reminder',
        text: `${i} ${'is to be run with care '.repeat(18)}`.slice(0, 400),
      });
    expect(r.send({ type: 'note', kind: 'reminder', text: 'x'.repeat(201) })).toMatchObject({
      code: 'notes_full',
    });
    expect(r.send({ type: 'note', kind: 'decision', text: 'x'.repeat(400) })).not.toHaveProperty('code');
    expect(r.send({ type: 'todo', content: 'x'.repeat(64 * 1024 + 1) })).toMatchObject({ code: 'bad_note' });
    expect(r.send({ type: 'todo', content: 'x'.repeat(64 * 1024) })).not.toHaveProperty('code');
    const many = Array.from({ length: 1000 }, (_, index) => `f${index}`);
    const full = { ...r.state, artefacts: many };
    const command = { now: 0, type: 'note' as const, kind: 'artefact' as const, text: 'one more' };
    expect(decide(r.definition, full, command)).toMatchObject({
      code: 'notes_full',
      params: { why: 'count', what: 'artifacts', limit: 1000 },
    });
    expect(decide(r.definition, { ...full, artefacts: many.slice(1) }, command)).toHaveLength(1);
  });

  test('a path or a session may be called anything', () => {
    const r = run();
    r.send({ type: 'read', path: '__proto__', hash: 'h' });
    r.send({ type: 'session', session: '__proto__', event: { type: 'started', host: 'h' } });
    r.send({
      type: 'session',
      session: '__proto__',
      event: { type: 'delivered', briefing: 'b', proven: 'none' },
    });
    expect(Object.keys(r.state.reading)).toEqual(['__proto__']);
    expect(Object.keys(r.state.sessions)).toEqual(['__proto__']);
    expect(Object.keys(r.state.briefings)).toEqual(['__proto__']);
    expect(JSON.parse(JSON.stringify(r.state))).toEqual(r.state);
  });

  test('a note has at most 400 characters and says something', () => {
    const r = run();
    expect(r.send({ type: 'note', kind: 'decision', text: 'x'.repeat(401) })).toMatchObject({
      code: 'bad_note',
    });
    expect(r.send({ type: 'note', kind: 'decision', text: ' ' })).toMatchObject({ code: 'bad_note' });
    expect(r.send({ type: 'note', kind: 'variable', text: 'x' })).toMatchObject({ code: 'bad_note' });
    expect(r.send({ type: 'note', kind: 'reading', text: 'x' })).toMatchObject({ code: 'bad_note' });
    expect(r.send({ type: 'ask', text: '  ' })).toMatchObject({ code: 'bad_note' });
  });

  test('variables, artefacts, reading and the to-do list are part of the state', () => {
    const r = new Run(
      workflow([action('a', { instructions: 'Plan {plan_id}' })], { variables: { plan_id: 'auth' } }),
    );
    expect(r.status().instructions).toBe('Plan auth');
    r.send({ type: 'note', kind: 'variable', key: 'plan_id', text: 'billing' });
    expect(r.status().instructions).toBe('Plan billing');
    r.send({ type: 'note', kind: 'artefact', key: 'spec_path', text: '{project_root}/SPEC.md' });
    r.send({ type: 'note', kind: 'artefact', text: '{project_root}/SPEC.md' });
    r.send({ type: 'note', kind: 'reading', key: 'issue', text: 'read' });
    expect(r.state.artifacts).toEqual({ spec_path: '{project_root}/SPEC.md' });
    expect(r.state.artefacts).toEqual(['{project_root}/SPEC.md']);
    expect(r.state.notes).toMatchObject([{ kind: 'reading', key: 'issue' }]);
    r.send({ type: 'read', path: 'docs/a.md', hash: 'h1' });
    r.send({ type: 'read', path: 'docs/a.md', hash: 'h2' });
    expect(r.state.reading).toEqual({ 'docs/a.md': { hash: 'h2', now: r.now } });
    r.send({ type: 'todo', content: '- [ ] one' });
    r.send({ type: 'todo', content: '- [x] one' });
    expect(r.state.todo).toBe('- [x] one');
    expect(r.effects).toEqual([{ type: 'writeTodo', content: '- [x] one' }]);
  });

  test('sessions remember host, witness, environment, completed steps and resets', () => {
    const r = run();
    const environment = { hostname: 'a', git_commit: 'c0ffee' };
    r.send({
      type: 'session',
      session: 'A',
      event: { type: 'started', host: 'claude-code', witness: 'hooks', environment },
    });
    r.advance('done', { session: 'A' });
    r.send({ type: 'boundary', by: 'hook', saw: 'compact', session: 'A' });
    r.now += 5;
    r.send({ type: 'session', session: 'A', event: { type: 'ended' } });
    expect(r.state.sessions.A).toEqual({
      host: 'claude-code',
      witness: 'hooks',
      environment,
      startedAt: 1_000_000,
      endedAt: 1_000_005,
      completed: ['a'],
      resets: 1,
      resetAt: 1_000_000,
    });
    r.send({ type: 'session', session: 'A', event: { type: 'started' } });
    expect(r.state.sessions.A).not.toHaveProperty('endedAt');
    expect(r.state.sessions.A).toMatchObject({ completed: ['a'], startedAt: 1_000_000 });
    r.send({
      type: 'session',
      session: 'A',
      event: { type: 'delivered', briefing: 'b7', proven: 'transcript' },
    });
    expect(r.state.briefings.A).toMatchObject({ id: 'b7', proven: 'transcript' });
  });

  test('a session must be known and have an id', () => {
    const r = run();
    expect(r.send({ type: 'session', event: { type: 'ended' } })).toMatchObject({ code: 'unknown_session' });
    expect(r.send({ type: 'session', session: 'Z', event: { type: 'seen' } })).toMatchObject({
      code: 'unknown_session',
    });
  });
});

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
      reason: 'it was held 3 times in this visit',
    });
  });

  test('never holds a stranger, a second round, a waiting position or running gates', () => {
    const run = held();
    const why = (asked: object = {}) => mayStop(run.definition, run.state, { ...stop, ...asked }).reason;
    expect(why({ session: 'B' })).toBe('the session is not bound to this run');
    expect(why({ active: true })).toBe('the turn already continues after a held stop');
    run.advance('x');
    expect(why()).toBe('the gates are still running');
    run.gates({ red: true });
    run.send({ type: 'ask', text: 'What?' });
    expect(why()).toBe('the run is waiting');
    run.person({ type: 'answer', text: 'x' });
    run.send({ type: 'session', session: 'A', event: { type: 'ended' } });
    expect(why()).toBe('the session is not bound to this run');
  });

  test('holds only where the workflow or the user asked for it', () => {
    const run = new Run(workflow([action('a')]));
    run.witness('A');
    expect(mayStop(run.definition, run.state, stop)).toMatchObject({
      hold: false,
      reason: 'the workflow does not hold stops',
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
      reason: 'the session holds no task',
    });
    run.claim('A', 'b');
    expect(mayStop(definition, run.state, stop)).toMatchObject({ hold: true, at: at.replace('/a/', '/b/') });
    run.send({ type: 'ask', text: 'What?', at: at.replace('/a/', '/b/') });
    expect(mayStop(definition, run.state, stop)).toMatchObject({
      hold: false,
      reason: 'the position waits for a decision',
    });
  });
});

describe('adoption', () => {
  test('an informal workflow becomes a run with one step, and is updated by a second look', () => {
    const adopted = {
      source: 'CLAUDE.local.md',
      phase: { current: 4, total: 10, name: 'SEO Generation' },
      reading: ['@CLAUDE/PageOrchestration.md'],
      text: 'Keep {braces} as they are',
    };
    const definition = adoptedDefinition('Page Orchestration - Case Studies', adopted);
    expect(definition).toMatchObject({ name: 'page-orchestration-case-studies' });
    const run = new Run(definition, { start: false });
    const reply = run.send({ type: 'adopt', run: 'x-1-a', adopted, summary: 'Case studies' });
    expect(reply.instructions).toContain('Phase 4/10: SEO Generation.');
    expect(reply.instructions).toContain('Keep {braces} as they are');
    expect(run.state).toMatchObject({ adopted, summary: 'Case studies' });
    run.send({
      type: 'adopt',
      run: 'x-1-a',
      adopted: { ...adopted, phase: { current: 5, total: 10, name: 'Review' } },
    });
    expect(run.types()).toEqual(['run.adopted']);
    expect(run.state.adopted?.phase?.current).toBe(5);
  });

  test('names become lower case with hyphens', () => {
    expect(slug('  Feature: User Auth! ')).toBe('feature-user-auth');
    expect(slug('***')).toBe('workflow');
    expect(slug('x'.repeat(80))).toHaveLength(60);
  });
});
