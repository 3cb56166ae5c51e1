import { expect, test } from 'vitest';
import { action, Run, workflow } from '../../test/kit/run.ts';
import { criticalArtifacts, dueArtifacts, wasTriggered } from './artifacts.ts';

const artifact = (id: string, ...reload_triggers: string[]) => ({
  id,
  type: 'markdown' as const,
  path: `${id}.md`,
  ...(reload_triggers.length > 0 ? { reload_triggers } : {}),
});
const definition = workflow([action('plan'), action('build'), action('review')], {
  critical_artifacts: {
    always_load: [
      artifact('usual'),
      artifact('start', 'session_start'),
      artifact('build', 'phase_start:build'),
      artifact('any', 'phase_transition'),
    ],
    conditional_load: [artifact('into', 'phase_transition:plan->build'), artifact('hand', 'manual')],
  },
});
const due = (run: Run, session = 'A') =>
  dueArtifacts(definition, run.state, session).map(({ id, trigger }) => `${id} ${trigger}`);
const load = (run: Run, session = 'A') => {
  const artifacts = dueArtifacts(definition, run.state, session).map(({ id }) => ({ id }));
  run.send({ type: 'loaded', trigger: 'session_start', artifacts, session });
};

test('[004/3] each trigger fires once: at a session start, a phase start, a transition, never by hand', () => {
  const run = new Run(definition, { session: 'A' });
  expect(due(run)).toEqual(['usual session_start', 'start session_start']);
  load(run);
  expect(due(run)).toEqual([]);
  expect(due(run, 'B')).toEqual(['usual session_start', 'start session_start']);
  run.now += 1000;
  run.advance();
  expect(due(run)).toEqual([
    'build phase_start:build',
    'any phase_transition',
    'into phase_transition:plan->build',
  ]);
  load(run);
  expect(due(run)).toEqual([]);
  run.now += 1000;
  run.advance();
  expect(due(run)).toEqual(['any phase_transition']);
});

test('[004/6] a reset takes away what a session was given, and only that', () => {
  const run = new Run(definition, { session: 'A' });
  run.send({ type: 'session', session: 'B', event: { type: 'started' } });
  load(run);
  load(run, 'B');
  expect([due(run, 'A'), due(run, 'B')]).toEqual([[], []]);
  run.send({ type: 'boundary', by: 'hook', saw: 'compact', session: 'B' });
  expect(due(run, 'A')).toEqual([]);
  expect(due(run, 'B')).toEqual(['usual session_start', 'start session_start']);
  run.send({ type: 'boundary', by: 'hook', saw: 'compact', session: 'A' });
  expect(due(run, 'A')).toEqual(['usual session_start', 'start session_start']);
  expect(run.state.loads).toMatchObject({ count: 2, bySession: {} });
});

test('a session that takes the place of another begins with nothing in its context', () => {
  const run = new Run(definition, { session: 'A' });
  load(run);
  run.send({ type: 'session', session: 'B', event: { type: 'started', from: 'A' } });
  expect(run.state.loads?.bySession).toEqual({});
  load(run, 'B');
  run.send({ type: 'session', session: 'B', event: { type: 'ended' } });
  expect(run.state.loads?.bySession).toEqual({});
});

test('undeclared artifacts, and artifacts given to an unknown session, are not recorded', () => {
  const run = new Run(definition, { session: 'A' });
  const hand = { trigger: 'm'.repeat(500), artifacts: [{ id: 'hand', hash: 'h' }] };
  run.send({
    type: 'loaded',
    trigger: 'manual',
    artifacts: [{ id: 'other' }, { id: '__proto__' }],
    session: 'A',
  });
  expect(run.types()).toEqual([]);
  run.send({ type: 'loaded', ...hand });
  run.send({ type: 'loaded', ...hand, session: 'stranger' });
  expect(run.types()).toEqual([]);
  run.send({ type: 'loaded', ...hand, session: 'A' });
  expect(run.state.loads?.bySession).toEqual({
    A: { hand: { hash: 'h', trigger: 'm'.repeat(200), now: run.now, entries: 1 } },
  });
});

test('an artifact that only a later phase triggers may not be asked for yet', () => {
  const run = new Run(definition, { session: 'A' });
  const asked = () =>
    criticalArtifacts(definition)
      .filter((each) => wasTriggered(each, run.state))
      .map(({ id }) => id);
  expect(asked()).toEqual(['usual', 'start', 'hand']);
  run.advance();
  expect(asked()).toEqual(['usual', 'start', 'build', 'any', 'into', 'hand']);
});

test('clocks of two machines do not matter', () => {
  const run = new Run(definition, { session: 'A' });
  run.now += 600_000;
  run.advance();
  run.now -= 600_000;
  load(run);
  expect(due(run)).toEqual([]);
});
