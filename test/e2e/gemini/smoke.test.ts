/** What CI runs of this agent when nothing of it has changed: scripts/ci/tiers.ts. */
import { expect, it } from 'vitest';
import { contextOf, lastUser, reply } from '../../../src/testing/index.ts';
import { complete, stageWith } from '../../kit/driver-run.ts';
import { advance, createGeminiStage, geminiHost } from '../../kit/gemini.ts';

const steps = `agents:
  worker: { description: Works, tools: [Bash] }
steps:
  - { id: build, type: action, agent: worker, instructions: INSTRUCTIONS-BUILD, gate: [{ run: "test -f done.txt || { echo MISSING-DONE; exit 3; }" }] }
  - { id: tell, type: action, agent: worker, context: clear, instructions: INSTRUCTIONS-TELL }
`;

it('stepfast run drives steps, a gate that fails first, and a cleared context', async () => {
  await using stage = await stageWith(steps, {}, geminiHost);
  const { model } = stage;
  model.on(lastUser(/INSTRUCTIONS-BUILD/), reply.text('All done, I promise.'));
  model.on(lastUser(/MISSING-DONE/), geminiHost.shell('printf x > done.txt'), reply.text('Now it is.'));
  model.on(lastUser(/INSTRUCTIONS-TELL/), advance('Told.'), reply.text('Yes.'));
  await complete(stage);
  expect((await stage.state()).outputs).toMatchObject({
    build: { text: 'Now it is.' },
    tell: { text: 'Told.' },
  });
  expect(await stage.eventsOf('gates.finished')).toMatchObject([{ pass: false }, { pass: true }]);
  const driver = { witness: 'driver' };
  expect(await stage.eventsOf('session.started')).toMatchObject([driver, driver]);
});

it('the installed extension briefs a new session whose first prompt is continue', async () => {
  await using stage = await createGeminiStage({
    '.stepfast/workflows/w.yaml': `name: w\ndescription: Plans\nsteps:\n  - { id: plan, type: action, instructions: INSTRUCTIONS-PLAN }\n`,
  });
  const { model, project } = stage;
  expect(await stage.stepfast('init', '--yes', '--host', 'gemini')).toMatchObject({ code: 0 });
  project.trust('w');
  const { state } = await project.startRun('w');
  model.on(lastUser(/continue/), advance('Planned.'), reply.text('Yes.'));
  await stage.prompt('continue');
  expect(contextOf(model.requestsOf('main')[0] ?? expect.unreachable())).toContain('INSTRUCTIONS-PLAN');
  expect((await state()).status).toBe('complete');
});
