import { describe, expect, test } from 'vitest';
import { action, Run, workflow } from '../../test/kit/run.ts';
import { decide } from './decide.ts';

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
