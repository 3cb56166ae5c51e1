/** Boundaries in a person's own session, with hooks only: `protocols.md` 1, row by row. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { compactionText } from '../../../src/messages/index.ts';
import {
  type ClaudeProject,
  contextOf,
  forgetsAll,
  lastContext,
  lastUser,
  nearlyFull,
  reply,
  runtimeIn,
  subagent,
  summariser,
  toolCall,
  toolResults,
} from '../../../src/testing/index.ts';
import { createStage } from './stage.ts';

/** Without a policy it is `prefer`. */
const workflow = (boundaries = '', action = 'clear') => `name: w
description: Plans, builds and tests
${boundaries === '' ? '' : `boundaries: ${boundaries}`}
steps:
  - { id: plan, type: action, instructions: INSTRUCTIONS-PLAN }
  - { id: build, type: action, context: ${action}, instructions: INSTRUCTIONS-BUILD }
  - { id: test, type: action, context: ${action}, instructions: INSTRUCTIONS-TEST }
`;

let stage: ClaudeProject;
afterEach(async () => {
  await stage[Symbol.asyncDispose]();
});

const shownIn = (events: readonly object[]): string[] =>
  events.flatMap((event) =>
    'subtype' in event && event.subtype === 'informational' && 'content' in event
      ? [String(event.content)]
      : [],
  );

describe('prefer', () => {
  beforeEach(async () => {
    stage = await createStage({ '.stepfast/workflows/w.yaml': workflow() });
  });

  it('[P1/1] [P1/3] [P1/5] [P1/6] [pain 1] asks, takes notes, tells what was skipped, and the screen says what to type', async () => {
    stage.model.on(
      lastUser(/begin/),
      toolCall.start('w'),
      toolCall.advance('Planned.'),
      toolCall.note('Passkeys only.'),
      reply.text('Please type /clear.'),
    );
    stage.model.on(
      lastUser(/go on/),
      toolCall.advance('Built.'),
      toolCall.advance('Built.'),
      reply.text('So far.'),
    );
    stage.model.on(lastUser(/wait/), reply.text('Waiting.'));
    const ran = await stage.run({ prompts: ['begin', 'wait', 'go on'] });
    const [, advanced, noted, refused, next] = toolResults(ran);
    expect(advanced).toMatch(/"contextAction":"\/clear"/);
    expect(advanced).toMatch(
      /Hand \S+ to a subagent, or end your turn; the user types \/clear, then continues\./,
    );
    expect(advanced).not.toContain('INSTRUCTIONS-BUILD');
    expect(noted).toContain('"ok":true');
    expect(refused).toMatch(/"code":"not_briefed".*INSTRUCTIONS-BUILD/);
    // From a run's second boundary on the way without a person is named first.
    expect(next).toMatch(/"message":"Hand \S+ to a subagent, or end your turn/);
    const { state, events } = await stage.project.onlyRun();
    expect(await events('boundary.released')).toMatchObject([{ how: 'skipped' }]);
    expect((await state()).cursors.test?.boundary).toMatchObject({ state: 'requested', policy: 'prefer' });
    expect(shownIn(ran.events)).toEqual([
      expect.stringMatching(/Stepfast: build .*\/clear/),
      expect.stringMatching(/Stepfast: test .*\/clear/),
    ]);
  });

  it('[P1/2] [P1/10] status gives the instructions, and a late clear is seen and briefs again', async () => {
    stage.model.on(
      lastUser(/begin/),
      toolCall.start('w'),
      toolCall.advance('Planned.'),
      toolCall.status(),
      reply.text('Building.'),
    );
    stage.model.on(lastUser(/continue/), reply.text('Still building.'));
    const ran = await stage.run({ prompts: ['begin', '/clear', 'continue'] });
    expect(toolResults(ran, ran.sessions[0])[2]).toContain('INSTRUCTIONS-BUILD');
    expect(lastContext(ran)).toContain('INSTRUCTIONS-BUILD');
    const { events } = await stage.project.onlyRun();
    expect((await events('boundary.released')).map(({ how }) => how)).toEqual(['skipped', 'reset']);
  });
});

describe('require', () => {
  beforeEach(async () => {
    stage = await createStage({ '.stepfast/workflows/w.yaml': workflow('require') });
  });

  it('[P1/1] [P1/2] [P1/3] [P1/4] [P1/5] [P1/6] [P1/7] [P4/5] nothing goes on before the clear, the next session is briefed and goes on', async () => {
    stage.model.on(
      lastUser(/begin/),
      toolCall.start('w'),
      toolCall.advance('Planned.'),
      toolCall.status(),
      toolCall.advance('Built.'),
      toolCall.context('instructions'),
      toolCall.note('Passkeys only.'),
      reply.text('Please type /clear.'),
    );
    stage.model.on(lastUser(/continue/), toolCall.advance('Built.'), reply.text('Built.'));
    const ran = await stage.run({ prompts: ['begin', '/clear', 'continue'] });
    const [, advanced, status, refused, context, noted] = toolResults(ran, ran.sessions[0]);
    for (const asked of [advanced, status]) expect(asked).toMatch(/"contextAction":"\/clear"/);
    expect(refused).toContain('"code":"boundary_open"');
    expect(context).not.toContain('INSTRUCTIONS-BUILD');
    expect(noted).toContain('"ok":true');
    expect(shownIn(ran.events)[0]).toContain('/clear');
    const fresh = ran.requests.requestsOf('main').find(({ session }) => session === ran.sessions[1]);
    expect(fresh && contextOf(fresh)).toContain('INSTRUCTIONS-BUILD');
    expect(fresh && contextOf(fresh)).toContain('Passkeys only.');
    const { state, events } = await stage.project.onlyRun();
    expect(await events('boundary.reset')).toMatchObject([{ by: 'hook', saw: 'clear' }]);
    expect(await state()).toMatchObject({
      step: 'test',
      cursors: { test: { boundary: { policy: 'require' } } },
    });
    // The tools and the hooks know each session by one name.
    expect(Object.keys((await state()).sessions)).toEqual(ran.sessions);
  });

  it('[P1/8] [P4/8] a subagent with the handle goes on, its parent does not even after an idle one, and a clear then opens what it was asked', async () => {
    stage.model.on(
      lastUser(/begin/),
      toolCall.start('w'),
      toolCall.advance('Planned.'),
      toolCall.agent('SUB-IDLE: say hi. AT'),
      toolCall.advance('Built in the old context.'),
      toolCall.agent('SUB-TASK: do AT and report.'),
      toolCall.status(),
      reply.text('Please type /clear.'),
    );
    stage.model.on(subagent(/SUB-IDLE/), reply.text('Hi.'));
    stage.model.on(subagent(/SUB-TASK/), toolCall.advance('Built.'), reply.text('Built.'));
    stage.model.on(lastUser(/continue/), toolCall.advance('Tested.'), reply.text('Done.'));
    const ran = await stage.run({ prompts: ['begin', '/clear', 'continue'] });
    const subs = ran.requests.requestsOf('subagent').map((each) => contextOf(each));
    expect(subs.find((context) => context.includes('SUB-TASK'))).toContain('INSTRUCTIONS-BUILD');
    expect(toolResults(ran, ran.sessions[0])[3]).toContain('"code":"boundary_open"');
    expect(toolResults(ran, ran.sessions[0]).at(-1)).toMatch(/"contextAction":"\/clear"/);
    const { state, events } = await stage.project.onlyRun();
    expect((await events('boundary.reset')).map(({ by }) => by)).toEqual(['subagent', 'subagent', 'hook']);
    expect((await state()).status).toBe('complete');
  });

  it('[P4/8] of two subagents that begin together the one that was handed the position has it, by its own call', async () => {
    const one = (prompt: string) => {
      const input = {
        description: 'Help',
        prompt,
        subagent_type: 'general-purpose',
        run_in_background: false,
      };
      return { name: 'Agent', input };
    };
    stage.model.on(lastUser(/begin/), toolCall.start('w'), toolCall.advance('Planned.'), (request) => {
      const at = /[0-9a-z]{6,16}:build#1/.exec(contextOf(request))?.[0] ?? '';
      return reply.tools([one('SUB-TYPOS: look for typos.'), one(`SUB-TASK: do ${at}`)]);
    });
    stage.model.on(lastUser(/./), reply.text('Done.'));
    stage.model.on(subagent(/SUB-TYPOS/), reply.text('None.'));
    stage.model.on(
      subagent(/SUB-TASK/),
      (request) => toolCall.status(/[0-9a-z]{6,16}:build#1/.exec(contextOf(request))?.[0])(request),
      toolCall.advance('Built.'),
      reply.text('Built.'),
    );
    const ran = await stage.run({ prompts: ['begin'] });
    const subs = ran.requests.requestsOf('subagent').map((each) => contextOf(each));
    for (const context of subs.filter((each) => each.includes('SUB-TYPOS')))
      expect(context).not.toContain('INSTRUCTIONS-BUILD');
    expect(subs.findLast((each) => each.includes('SUB-TASK'))).toContain('INSTRUCTIONS-BUILD');
    const { state } = await stage.project.onlyRun();
    expect((await state()).step).toBe('test');
  });

  it('[P1/9] another session with the handle goes on, and a person may let it pass', async () => {
    stage.model.on(
      lastUser(/begin/),
      toolCall.start('w'),
      toolCall.advance('Planned.'),
      reply.text('Waiting.'),
    );
    await stage.run({ prompts: ['begin'] });
    const { state, events, run } = await stage.project.onlyRun();
    const at = `${run.slice(-8)}:build#1`;
    stage.model.on(
      lastUser(/take over/),
      toolCall.status(at),
      toolCall.advance('Built.', at),
      toolCall.advance('Tested.'),
      reply.text('Waiting.'),
    );
    stage.model.on(
      lastUser(/it may/),
      toolCall.advance('Tested.', `${run.slice(-8)}:test#1`),
      reply.text('Done.'),
    );
    const session = await stage.open();
    await session.send('take over');
    expect((await state()).cursors.test?.boundary).toMatchObject({ state: 'requested', policy: 'require' });
    const person = { actor: { kind: 'person', name: 'ann' } } as const;
    await runtimeIn(stage.project).call({ type: 'proceed' }, person, { run });
    await session.send('it may go on');
    await session.close();
    expect(await events('boundary.reset')).toMatchObject([{ by: 'new_session', saw: 'new' }]);
    expect((await events('boundary.released')).map(({ how }) => how)).toEqual(['reset', 'proceeded']);
    expect((await state()).status).toBe('complete');
  });

  it('[P4/10] without hooks it becomes prefer, and that is recorded', async () => {
    stage.model.on(
      lastUser(/begin/),
      toolCall.start('w'),
      toolCall.advance('Planned.'),
      toolCall.status(),
      toolCall.advance('Built.'),
      reply.text('So far.'),
    );
    const ran = await stage.run({ prompts: ['begin'], settings: {} });
    expect(toolResults(ran)[2]).toContain('INSTRUCTIONS-BUILD');
    const { events } = await stage.project.onlyRun();
    expect(await events('boundary.requested')).toMatchObject([
      { policy: 'prefer', downgraded: true },
      { policy: 'prefer', downgraded: true },
    ]);
  });
});

it('[P1/7] [U5] [U9] a compaction satisfies compact: person and screen are told /compact, the summarizer what comes after it', async () => {
  stage = await createStage({ '.stepfast/workflows/w.yaml': workflow('require', 'compact') });
  stage.model.on(
    lastUser(/begin/),
    toolCall.start('w'),
    toolCall.advance('Planned.'),
    reply.text('Please compact.'),
  );
  stage.model.always(summariser(), forgetsAll());
  stage.model.on(lastUser(/continue/), toolCall.advance('Built.'), reply.text('Built.'));
  const session = await stage.open();
  const { events } = await session.send('begin');
  expect(shownIn(events)[0]).toContain('/compact');
  const { stdout } = await stage.project.run(['status'], { terminal: true });
  expect(stdout).toContain('/compact');
  // A handle is for agents.
  expect(stdout).not.toMatch(/:build#1/);
  await session.send('/compact');
  await session.send('continue');
  await session.close();
  const [summary] = stage.model.requestsOf('summariser');
  expect(summary?.lastUser).toContain(compactionText('w', 'build'));
  expect(summary?.lastUser).not.toContain('/compact');
  expect(contextOf(stage.model.firstRequestAfterCompaction())).toContain('INSTRUCTIONS-BUILD');
  const { state } = await stage.project.onlyRun();
  expect((await state()).step).toBe('test');
});

it('[U5] before an automatic compaction the summarizer is told what comes after it, word for word', async () => {
  stage = await createStage({ '.stepfast/workflows/w.yaml': workflow('require', 'compact') });
  stage.model.on(
    lastUser(/begin/),
    toolCall.start('w'),
    toolCall.advance('Planned.'),
    toolCall.bash('ls', { usage: nearlyFull }),
    toolCall.bash('ls'),
    reply.text('Compacted.'),
  );
  stage.model.always(summariser(), forgetsAll());
  await stage.run({ prompts: ['begin'] });
  const [summary] = stage.model.requestsOf('summariser');
  expect(summary?.lastUser).toMatch(/- next: .*:build#1/);
  expect(summary?.lastUser).not.toMatch(/\/compact|reset_context/);
});

it('[P1/1] [P1/7] the first position asks as well, and a compaction does not satisfy a clear', async () => {
  const first = workflow('require').replace('{ id: plan,', '{ id: plan, context: clear,');
  stage = await createStage({ '.stepfast/workflows/w.yaml': first });
  stage.model.on(lastUser(/begin/), toolCall.start('w'), reply.text('Please clear.'));
  stage.model.always(summariser(), forgetsAll());
  stage.model.on(lastUser(/continue/), toolCall.advance('Planned.'), reply.text('No.'));
  const ran = await stage.run({ prompts: ['begin', '/compact', 'continue'] });
  expect(contextOf(ran.requests.firstRequestAfterCompaction())).not.toContain('INSTRUCTIONS-PLAN');
  expect(toolResults(ran).at(-1)).toContain('"code":"boundary_open"');
  const { events } = await stage.project.onlyRun();
  expect((await events('boundary.requested'))[0]).not.toHaveProperty('downgraded');
});

it('[P1/1] [P1/10] off: the instructions come at once, and a clear is only recorded', async () => {
  stage = await createStage({ '.stepfast/workflows/w.yaml': workflow('off') });
  stage.model.on(
    lastUser(/begin/),
    toolCall.start('w'),
    toolCall.advance('Planned.'),
    reply.text('Building.'),
  );
  stage.model.on(lastUser(/continue/), reply.text('Building.'));
  const ran = await stage.run({ prompts: ['begin', '/clear', 'continue'] });
  expect(toolResults(ran, ran.sessions[0])[1]).toContain('INSTRUCTIONS-BUILD');
  expect(shownIn(ran.events)).toEqual([]);
  expect(lastContext(ran)).toContain('INSTRUCTIONS-BUILD');
  const { events } = await stage.project.onlyRun();
  expect(await events('boundary.released')).toMatchObject([{ how: 'skipped' }]);
  expect(await events('session.reset')).toMatchObject([{ saw: 'clear' }]);
});
