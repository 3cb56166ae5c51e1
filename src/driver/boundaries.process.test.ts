/** The driver performs each context action: a new session, or a compaction of the one that it has. */
import { afterEach, describe, expect, it } from 'vitest';
import { createScriptedRun, type ScriptedRun } from '../../test/kit/scripted-run.ts';

let stage: ScriptedRun;
afterEach(async () => await stage[Symbol.asyncDispose]());

const twoSteps = (context: string, more = ''): string => `steps:
  - { id: plan, type: action, instructions: INSTRUCTIONS-PLAN }
  - { id: build, type: action, ${context} instructions: INSTRUCTIONS-BUILD }
${more}`;

/** The agent advances whenever it is asked for this. */
const advances = (...words: string[]): void => {
  for (const word of words) stage.agent.on(new RegExp(`${word}\\b`), ({ advance }) => advance(`${word}.`));
};

const briefings = (prompt: string): string[] =>
  [...prompt.matchAll(/Briefing (b-[0-9a-z]+) of run/g)].map(([, id = '']) => id);

/** By the order of the sessions: 0 for the first. */
const sessions = (): number[] => {
  const { sessions: opened, prompts } = stage.agent;
  return prompts.map(({ session }) => opened.findIndex(({ id }) => id === session));
};

describe('clear', () => {
  it.each([
    ['of a step', twoSteps('context: clear,')],
    ['of a transition', twoSteps('', 'transitions: [{ from: plan, to: build, context: clear }]\n')],
  ])('%s opens a new session with a briefing', async (_, steps) => {
    stage = await createScriptedRun(steps);
    advances('INSTRUCTIONS-PLAN', 'INSTRUCTIONS-BUILD');
    await stage.complete();
    expect(sessions()).toEqual([0, 1]);
    const [first, second] = stage.agent.sessions;
    expect(await stage.events('session.started')).toMatchObject([
      { session: first?.id, witness: 'driver' },
      { session: second?.id, witness: 'driver', from: first?.id },
    ]);
    expect(await stage.events('boundary.reset')).toMatchObject([{ by: 'driver', saw: 'new' }]);
    expect(await stage.events('boundary.released')).toMatchObject([{ how: 'reset' }]);
    const { prompt = '' } = stage.agent.prompts[1] ?? {};
    expect(prompt).toContain('INSTRUCTIONS-PLAN.');
    expect((await stage.events('briefing.delivered')).map(({ briefing }) => briefing)).toContain(
      briefings(prompt)[0],
    );
  });

  it('of a sub-step opens a new session for each task, but not for the sub-step before it', async () => {
    stage = await createScriptedRun(`steps:
  - { id: work, type: loop, instructions: INSTRUCTIONS-SPLIT }
loops:
  work:
    - { id: make, instructions: "MAKE-{task.id}" }
    - { id: check, context: clear, instructions: "CHECK-{task.id}" }
`);
    stage.agent.on(/INSTRUCTIONS-SPLIT/, ({ tool }) =>
      tool('workflow_set_tasks', { loop_id: 'work', tasks: ['a', 'b'].map((id) => ({ id, title: id })) }),
    );
    advances('MAKE-a', 'CHECK-a', 'MAKE-b', 'CHECK-b');
    await stage.complete();
    expect(sessions()).toEqual([0, 0, 1, 1, 2]);
    expect(await stage.events('boundary.released')).toMatchObject([{ how: 'reset' }, { how: 'reset' }]);
  });

  it('of a ralph step opens a new session for each iteration', async () => {
    stage = await createScriptedRun(`steps:
  - { id: polish, type: ralph, n: 2, context: clear, instructions: "ROUND-{iteration}" }
`);
    advances('ROUND-1', 'ROUND-2');
    await stage.complete();
    expect(sessions()).toEqual([0, 1]);
  });
});

describe('compact', () => {
  it('compacts the session and briefs it again, once', async () => {
    stage = await createScriptedRun(twoSteps('context: compact,'));
    // Two turns follow the compaction. The second one needs no briefing.
    stage.agent.on(/INSTRUCTIONS-BUILD/, 'Half of it.');
    advances('INSTRUCTIONS-PLAN', 'INSTRUCTIONS-BUILD');
    await stage.complete();
    expect(stage.agent.sessions).toMatchObject([{ compactions: 1 }]);
    const given = stage.agent.prompts.map(({ prompt }) => briefings(prompt));
    expect(given.map(({ length }) => length)).toEqual([1, 1, 0]);
    expect(given[1]).not.toEqual(given[0]);
    expect(await stage.events('boundary.reset')).toMatchObject([{ by: 'driver', saw: 'compact' }]);
    expect(stage.reported('boundary')).toMatchObject([{ context: 'compact', how: 'compacted' }]);
    const delivered = (await stage.events('briefing.delivered')).map(({ briefing }) => briefing);
    expect(delivered).toEqual(given.flat());
  });

  it('opens a new session if the agent cannot compact', async () => {
    stage = await createScriptedRun(twoSteps('context: compact,'));
    stage.agent.compacts = false;
    advances('INSTRUCTIONS-PLAN', 'INSTRUCTIONS-BUILD');
    await stage.complete();
    expect(stage.reported('session')).toMatchObject([{ why: 'start' }, { why: 'compact_failed' }]);
    expect(await stage.events('boundary.reset')).toMatchObject([{ by: 'driver', saw: 'new' }]);
  });
});

it('boundaries that are off keep the session, except for a step of another agent', async () => {
  stage = await createScriptedRun(`boundaries: off
agents:
  reader: { description: Reads, model: small }
${twoSteps('context: clear,')}  - { id: read, type: action, agent: reader, instructions: INSTRUCTIONS-READ }
`);
  advances('INSTRUCTIONS-PLAN', 'INSTRUCTIONS-BUILD', 'INSTRUCTIONS-READ');
  await stage.complete();
  expect(sessions()).toEqual([0, 0, 1]);
  expect(stage.reported('session')).toMatchObject([{ why: 'start' }, { why: 'clear', agent: 'reader' }]);
});

it("a step of another agent opens a session with that agent's settings", async () => {
  stage = await createScriptedRun(`agents:
  writer: { description: Writes, model: large, permissions: acceptEdits }
  reader: { description: Reads, model: small, tools: [Read], cannot: [Write] }
${twoSteps('agent: reader,').replace('{ id: plan,', '{ id: plan, agent: writer,')}`);
  advances('INSTRUCTIONS-PLAN', 'INSTRUCTIONS-BUILD');
  await stage.complete();
  expect(sessions()).toEqual([0, 1]);
  expect(stage.reported('session')).toMatchObject([{ agent: 'writer' }, { agent: 'reader' }]);
  expect(stage.agent.sessions.map(({ options }) => options)).toMatchObject([
    { model: 'large', permissions: 'acceptEdits' },
    { model: 'small', tools: ['Read'], cannot: ['Write'] },
  ]);
});
