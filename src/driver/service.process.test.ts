/** The driver waits while the model service fails. This is never an attempt or a failure of the agent. */
import { afterEach, expect, it } from 'vitest';
import type { SentPrompt } from '../../test/kit/scripted-host.ts';
import { createScriptedRun, type ScriptedRun } from '../../test/kit/scripted-run.ts';

let stage: ScriptedRun;
afterEach(async () => await stage[Symbol.asyncDispose]());

const refuse = (fits: RegExp | ((sent: SentPrompt) => boolean), status: number): void =>
  stage.agent.on(fits, ({ fail }) => fail({ kind: 'model_service', status, text: '' }));

it('waits out more failures than an agent may have, and briefs the session again', async () => {
  stage = await createScriptedRun(`steps:
  - { id: build, type: action, instructions: INSTRUCTIONS-BUILD, gate: [{ run: test -f done.txt }] }
`);
  const statuses = [429, 500, 529, 401, 401, 401];
  for (const status of statuses) refuse(/INSTRUCTIONS-BUILD/, status);
  stage.agent.on(/INSTRUCTIONS-BUILD/, ({ write }) => write('done.txt'));
  await stage.complete();
  expect(stage.reported('retry').map(({ status }) => status)).toEqual(statuses);
  expect(await stage.events('gates.requested')).toHaveLength(1);
  expect(await stage.events('position.failed')).toEqual([]);
  expect(stage.reported('session')).toMatchObject([{ why: 'start' }]);
  expect(Object.values((await stage.state()).told ?? {}).map(({ turns }) => turns)).toEqual([1]);
  // Only the briefing that was answered counts as delivered.
  expect(await stage.events('briefing.delivered')).toHaveLength(1);
});

it('waits out failures of a review, which is no verdict', async () => {
  stage = await createScriptedRun(`agents:
  reviewer: { description: Reviews, model: small }
steps:
  - { id: build, type: action, instructions: INSTRUCTIONS-BUILD, review: { by: reviewer } }
`);
  const reviewing = ({ model }: SentPrompt): boolean => model === 'small';
  for (const status of [429, 401, 529]) refuse(reviewing, status);
  stage.agent.on(reviewing, ({ advance }) => advance('Good.', { verdict: 'approve' }));
  stage.agent.on(/INSTRUCTIONS-BUILD/, ({ advance }) => advance('Built.'));
  await stage.complete();
  const { told = {} } = await stage.state();
  expect(await stage.events('review.decided')).toMatchObject([{ verdict: 'approve', by: 'agent' }]);
  expect(Object.values(told).map(({ turns }) => turns)).toEqual([1, 1]);
});
