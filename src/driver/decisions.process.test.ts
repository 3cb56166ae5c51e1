/** Decisions of people and of reviewing agents, while a driver waits for them or after it has ended. */
import { afterEach, describe, expect, it } from 'vitest';
import type { SentPrompt } from '../../test/kit/scripted-host.ts';
import { createScriptedRun, type ScriptedRun } from '../../test/kit/scripted-run.ts';
import type { State } from '../machine/index.ts';

let stage: ScriptedRun;
afterEach(async () => await stage[Symbol.asyncDispose]());

const waitsFor =
  (kind: string) =>
  ({ cursors }: State): boolean =>
    Object.values(cursors).some(({ waiting }) => waiting?.kind === kind);

/** The agent advances the step, as often as it is asked to. */
const advances = (step: string, output: string, times = 1): void =>
  stage.agent.on(new RegExp(`INSTRUCTIONS-${step}`), ({ advance }) => advance(output), times);

describe('a review by a person', () => {
  const begin = async (): Promise<void> => {
    stage = await createScriptedRun(`steps:
  - { id: plan, type: action, instructions: INSTRUCTIONS-PLAN, review: { by: human } }
  - { id: build, type: action, instructions: INSTRUCTIONS-BUILD }
`);
    advances('PLAN', 'The plan.');
    advances('BUILD', 'Built.');
  };

  it('makes the driver wait, and continue after the decision', async () => {
    await begin();
    const driver = stage.start();
    await stage.until(waitsFor('review'));
    await expect.poll(() => stage.reported('waits')).toMatchObject([{ for: 'person' }]);
    await stage.decide({ type: 'review', verdict: 'approve' });
    expect(await driver.ended).toEqual({ end: 'complete' });
    expect(await stage.events('driver.taken')).toHaveLength(1);
    expect(stage.reported('waits')).toHaveLength(1);
  });

  it('ends a driver that does not wait, and a later driver continues', async () => {
    await begin();
    expect(await stage.drive()).toBe('waits');
    expect(await stage.state()).toMatchObject({ status: 'waiting', driver: { released: true } });
    expect(await stage.drive()).toBe('waits');
    expect(stage.agent.prompts).toHaveLength(1);
    await stage.decide({ type: 'review', verdict: 'approve' });
    await stage.complete();
    expect((await stage.events('driver.taken')).map(({ epoch }) => epoch)).toEqual([1, 2, 3]);
  });

  it('that asks for a revision is the next prompt', async () => {
    await begin();
    expect(await stage.drive()).toBe('waits');
    await stage.decide({ type: 'review', verdict: 'revise', feedback: 'FEEDBACK-SHORTER' });
    stage.agent.on(/FEEDBACK-SHORTER/, ({ advance }) => advance('Short.'));
    expect(await stage.drive()).toBe('waits');
    await stage.decide({ type: 'review', verdict: 'approve' });
    await stage.complete();
    expect((await stage.state()).outputs.plan).toMatchObject({ text: 'Short.' });
  });
});

describe('a review by an agent', () => {
  const begin = async (): Promise<void> => {
    stage = await createScriptedRun(`agents:
  reviewer: { description: Reviews, model: small }
steps:
  - { id: plan, type: action, instructions: INSTRUCTIONS-PLAN }
  - { id: build, type: action, instructions: INSTRUCTIONS-BUILD, review: { by: reviewer, on_pivot: plan } }
  - { id: tell, type: action, instructions: INSTRUCTIONS-TELL }
`);
  };
  const reviewing = ({ model }: SentPrompt): boolean => model === 'small';
  /** Before `advances`, because the prompt of a review has the same instructions. */
  const reviews = (verdict: string, output: string): void =>
    stage.agent.on(reviewing, ({ advance }) => advance(output, { verdict }));
  const sessionAt = (index: number): string | undefined => stage.agent.prompts[index]?.session;

  it('has its own session, and so has the work after it', async () => {
    await begin();
    reviews('approve', 'Good.');
    advances('PLAN', 'Planned.');
    advances('BUILD', 'OUTPUT-BUILT');
    advances('TELL', 'Told.');
    await stage.complete();
    const { sessions, prompts } = stage.agent;
    expect(stage.reported('session')).toMatchObject([
      { why: 'start', session: sessions[0]?.id },
      { why: 'review', session: sessions[1]?.id, agent: 'reviewer' },
      { why: 'review', session: sessions[2]?.id },
    ]);
    expect(prompts.map(({ session, model }) => [session, model])).toEqual([
      [sessions[0]?.id, undefined],
      [sessions[0]?.id, undefined],
      [sessions[1]?.id, 'small'],
      [sessions[2]?.id, undefined],
    ]);
    expect(prompts[2]?.prompt).toMatch(/OUTPUT-BUILT/);
    expect(await stage.events('review.decided')).toMatchObject([{ verdict: 'approve', by: 'agent' }]);
    expect(await stage.events('session.ended')).toHaveLength(3);
  });

  it('can send the run back to an earlier step, with its reasons', async () => {
    await begin();
    reviews('pivot', 'FEEDBACK-ANOTHER-WAY');
    reviews('approve', 'Good.');
    advances('PLAN', 'Planned.', 2);
    advances('BUILD', 'Built.', 2);
    advances('TELL', 'Told.');
    await stage.complete();
    expect(await stage.events('run.pivoted')).toMatchObject([{ from: 'build', to: 'plan' }]);
    const again = stage.agent.prompts.find(({ prompt }) => prompt.includes('FEEDBACK-ANOTHER-WAY'));
    expect(again?.prompt).toMatch(/INSTRUCTIONS-PLAN/);
    expect([sessionAt(0), sessionAt(2)]).not.toContain(again?.session);
  });

  it('goes to a person if two turns end without a verdict', async () => {
    await begin();
    stage.agent.on(reviewing, 'Looks nice.', 2);
    advances('PLAN', 'Planned.');
    advances('BUILD', 'Built.');
    expect(await stage.drive()).toBe('waits');
    expect(stage.agent.left()).toBe(0);
    expect(await stage.state()).toMatchObject({
      status: 'waiting',
      cursors: { build: { waiting: { kind: 'review', by: 'human' } } },
    });
  });
});

it("waits for the answer to an agent's question and prompts with it", async () => {
  stage = await createScriptedRun(`steps:
  - { id: paint, type: action, instructions: INSTRUCTIONS-PAINT }
`);
  const { agent } = stage;
  agent.on(/ANSWER-BLUE/, ({ advance }) => advance('Blue.'));
  agent.on(/INSTRUCTIONS-PAINT/, async ({ tool }) => {
    await tool('workflow_note', { kind: 'question', text: 'WHICH-COLOR?' });
  });
  const driver = stage.start();
  expect((await stage.until(waitsFor('question'))).questions).toMatchObject([{ text: 'WHICH-COLOR?' }]);
  await stage.decide({ type: 'answer', text: 'ANSWER-BLUE' });
  expect(await driver.ended).toEqual({ end: 'complete' });
  expect(agent.prompts).toHaveLength(2);
  expect(await stage.events('gates.finished')).toEqual([]);
});

describe('a pause', () => {
  /** The first turn ends only after the person has paused. */
  const begin = async (): Promise<void> => {
    stage = await createScriptedRun(`steps:
  - { id: one, type: action, instructions: INSTRUCTIONS-ONE }
  - { id: two, type: action, instructions: INSTRUCTIONS-TWO }
`);
    stage.agent.on(/INSTRUCTIONS-ONE/, async ({ advance }) => {
      await advance('One.');
      await stage.decide({ type: 'pause' });
    });
    advances('TWO', 'Two.');
  };

  it('lets the turn end and begins none until a person unpauses', async () => {
    await begin();
    const driver = stage.start();
    await expect.poll(() => stage.reported('waits')).toMatchObject([{ reason: 'paused by ann' }]);
    expect(stage.agent.prompts).toHaveLength(1);
    await stage.decide({ type: 'unpause' });
    expect(await driver.ended).toEqual({ end: 'complete' });
    expect(await stage.events('run.paused')).toMatchObject([{ by: 'ann' }]);
  });

  it('ends a driver that does not wait', async () => {
    await begin();
    expect(await stage.drive()).toBe('paused');
    expect(Object.keys((await stage.state()).cursors)).toEqual(['two']);
    await stage.decide({ type: 'unpause' });
    await stage.complete();
  });
});
