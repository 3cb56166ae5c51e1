/** Boundaries in a person's own session, with hooks only: `protocols.md` 1, row by row. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { compactionText } from '../../../src/messages/index.ts';
import {
  type ClaudeProject,
  contextOf,
  forgetsAll,
  lastUser,
  reply,
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
