import { describe, expect, test } from 'vitest';
import { type Actor, by, claude, person, thief } from '../../test/kit/actors.ts';
import { action, cursor, Run, workflow } from '../../test/kit/run.ts';

describe('S4: reviews', () => {
  const waiting = (review: { by: string; independent?: boolean }) => {
    const run = new Run(workflow([action('work', { review }), action('end')]));
    run.send({ type: 'advance', output: 'done', session: 's1', actor: claude });
    return { run, at: 'k3f9x2ab:work#1' };
  };
  const approve = { type: 'review', verdict: 'approve' } as const;

  test('[P10/6] by the same principal under another session name are labelled', () => {
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

  test('[P10/6] name the agent, which may work with the login of a person', () => {
    const verdictOf = (actor: Actor) => {
      const { run, at } = waiting({ by: 'critic' });
      run.send({ ...approve, at, session: 's2', actor });
      return run.state.outputs.work?.reviewed;
    };
    expect(verdictOf({ ...by('ada'), name: 'ada' })).toBe('agent ada');
    expect(verdictOf(person)).toBe('ada');
  });

  test('[P10/7] that must be independent take nobody who did some of the work', () => {
    const independent = { by: 'critic', independent: true };
    const rounds = new Run(workflow([{ ...action('work', { review: independent }), type: 'ralph', n: 2 }]));
    rounds.send({ type: 'advance', output: 'the work', session: 's1', actor: thief });
    const second = rounds.send({ type: 'advance', output: 'nothing to add', session: 's3', actor: claude });
    const revised = waiting(independent);
    const revise = { type: 'review', verdict: 'revise', feedback: 'more', at: revised.at } as const;
    revised.run.send({ ...revise, session: 's2', actor: by('critic') });
    const again = revised.run.send({ type: 'advance', output: 'more', session: 's9', actor: thief });
    for (const [run, at, authors] of [
      [rounds, second.at, [thief, claude]],
      [revised.run, again.at, [claude, thief]],
    ] as const) {
      for (const actor of authors)
        expect(run.send({ ...approve, at, session: 's4', actor })).toMatchObject({ code: 'person_only' });
      expect(run.send({ ...approve, at, session: 's4', actor: by('critic') })).not.toHaveProperty('code');
    }
  });

  test('[P10/7] that must be independent take another principal, or a person', () => {
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

  test('[P10/8] an agent cannot abandon a run', () => {
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
