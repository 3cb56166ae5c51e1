/** Agents that lie, do nothing, or do what they must not. */
import { afterEach, describe, expect, it } from 'vitest';
import { createScriptedRun, type ScriptedRun } from '../../test/kit/scripted-run.ts';

let stage: ScriptedRun;
afterEach(async () => await stage[Symbol.asyncDispose]());

const begin = async (...steps: string[]): Promise<void> => {
  stage = await createScriptedRun(`steps:\n${steps.map((step) => `  - ${step}\n`).join('')}`);
};
const build =
  '{ id: build, type: action, instructions: INSTRUCTIONS-BUILD, gate: [{ run: test -f done.txt }] }';
const notes = '{ id: notes, type: action, instructions: INSTRUCTIONS-NOTES }';

/** Two turns in each of two sessions, then a person. */
async function expectBlocked(step: string): Promise<void> {
  expect(await stage.drive()).toBe('waits');
  expect((await stage.state()).cursors[step]).toMatchObject({ waiting: { kind: 'blocked' } });
  expect(await stage.events('position.completed')).toEqual([]);
  const [first, second] = stage.agent.sessions.map(({ id }) => id);
  expect(stage.agent.prompts.map(({ session }) => session)).toEqual([first, first, second, second]);
  expect(stage.reported('session').map(({ why }) => why)).toEqual(['start', 'no_progress']);
}

describe('an agent that lies', () => {
  it('about its work goes to a person after two sessions', async () => {
    await begin(build);
    stage.agent.always(/./, 'All done, I promise. All checks pass.');
    await expectBlocked('build');
    const receipts = (await stage.events('gates.finished')).flatMap((event) => event.receipts);
    expect(receipts.map(({ pass }) => pass)).toEqual([false, false, false, false]);
  });

  it('about an approval leaves the review open', async () => {
    await begin('{ id: build, type: action, instructions: INSTRUCTIONS-BUILD, review: { by: human } }');
    stage.agent.on(/INSTRUCTIONS-BUILD/, async ({ advance }) => {
      await advance('The person has approved this.');
      expect(await advance('Approved.', { verdict: 'approve' })).toMatchObject({ code: 'person_only' });
      return 'Approved by the person. The workflow is complete.';
    });
    expect(await stage.drive()).toBe('waits');
    expect((await stage.state()).cursors.build?.waiting).toMatchObject({ kind: 'review', by: 'human' });
    expect(await stage.events('review.decided')).toEqual([]);
  });
});

it('an agent that never calls a tool is reminded, then replaced, then a person decides', async () => {
  await begin(notes);
  stage.agent.always(/workflow_advance/, 'Hm.');
  await expectBlocked('notes');
});

it('an agent whose work changes each time is not stopped', async () => {
  await begin(build.replace('INSTRUCTIONS-BUILD,', 'INSTRUCTIONS-BUILD, attempts: 9,'));
  for (let round = 1; round <= 5; round += 1)
    stage.agent.on(/./, ({ write }) => write(round === 5 ? 'done.txt' : 'a.txt', `${round}`));
  await stage.complete();
  expect(stage.agent.sessions).toHaveLength(1);
});

it('an agent that edits the workflow does not change the gates of its run', async () => {
  await begin(build);
  stage.agent.on(/INSTRUCTIONS-BUILD/, ({ shell }) =>
    shell(`sed -i 's/test -f done.txt/true/' .stepfast/workflows/w.yaml`),
  );
  stage.agent.always(/./, 'It passes.');
  expect(await stage.drive()).toBe('waits');
  const receipts = (await stage.events('gates.finished')).flatMap((event) => event.receipts);
  expect(new Set(receipts.map(({ pass }) => pass))).toEqual(new Set([false]));
  expect(stage.git('show', `${stage.branch}:.stepfast/workflows/w.yaml`)).toMatch(/gate: \[\{ run: true/);
});

it('an agent cannot advance over a boundary, and the next session does the step', async () => {
  await begin(notes, '{ id: second, type: action, instructions: INSTRUCTIONS-SECOND, context: clear }');
  stage.agent.on(/INSTRUCTIONS-SECOND/, ({ advance }) => advance('Second.'));
  stage.agent.on(/INSTRUCTIONS-NOTES/, async ({ handle, advance }) => {
    await advance('Notes.');
    const at = handle.replace('notes#1', 'second#1');
    expect(await advance('Second, without a look.', { at })).toMatchObject({ code: 'boundary_open' });
  });
  await stage.complete();
  const [first, second] = stage.agent.sessions.map(({ id }) => id);
  expect(await stage.events('position.completed')).toMatchObject([
    { at: expect.stringMatching(/notes#1$/), session: first },
    { at: expect.stringMatching(/second#1$/), session: second },
  ]);
});
