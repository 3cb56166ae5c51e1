/** Everything that a person types, from `claude` to a proven end. The agent calls no Stepfast tool. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { type ClaudeProject, lastUser, reply, toolCall } from '../../../src/testing/index.ts';
import { passes, step, workflow } from '../../kit/checked-workflow.ts';
import { openClaudeTerminal, type PersonAtTerminal } from '../../kit/claude-terminal.ts';
import { createCheckedProject, edit, goWith, stateOf, told, verdictsOf } from './checked-project.ts';

let stage: ClaudeProject;
let person: PersonAtTerminal;
afterEach(async () => {
  await person.terminal.close();
  await stage[Symbol.asyncDispose]();
});

it('[U3] [U14] one prompt for go: a false "done" is caught, the fix recognized, and the person sees the proven end', async () => {
  stage = await createCheckedProject({ '.stepfast/workflows/go.yaml': goWith(passes) });
  stage.model.on(lastUser(/make it 42/), edit('43'), reply.text('Done! All tests pass.'));
  stage.model.on(told(/not ok 1/), edit('42'), reply.text('Now it is done.'));
  person = await openClaudeTerminal(stage);
  await person.enter('/stepfast:go make it 42');
  await person.terminal.waitFor(/✓ go complete/);
  expect(await person.terminal.screen()).not.toContain('error');
  expect(person.entered).toHaveLength(1);
  expect(await verdictsOf(stage)).toEqual([false, true]);
  expect((await stateOf(stage)).status).toBe('complete');
  expect(readFileSync(join(stage.project.root, 'total.txt'), 'utf8')).toBe('42\n');
});

it('[U15] [U20] four for five steps with one approval and two fresh contexts: start, approve and twice /clear', async () => {
  const steps = [
    step('plan', 'gate: [{ exists: plan.md }], review: { by: human }'),
    step('build', 'context: clear, gate: [{ exists: build.md }]'),
    step('test', 'gate: [{ exists: test.md }]'),
    step('docs', 'context: clear, gate: [{ exists: docs.md }]'),
    step('ship', 'gate: [{ exists: ship.md }]'),
  ];
  stage = await createCheckedProject({ '.stepfast/workflows/w.yaml': workflow(steps.join('')) });
  // The latest first: the instructions of steps before stay in the context.
  for (const id of ['ship', 'docs', 'test', 'build', 'plan'])
    stage.model.on(
      told(new RegExp(`INSTRUCTIONS-${id.toUpperCase()}`)),
      toolCall.bash(`echo x > ${id}.md`),
      reply.text(`The ${id} is done.`),
    );
  stage.model.always(lastUser(/./), reply.text('Waiting.'));
  person = await openClaudeTerminal(stage);
  const { terminal, enter, entered } = person;
  await enter('/stepfast:start w add a page');
  await terminal.waitFor(/\/stepfast:approve [0-9a-f]{4}/);
  const [typed = ''] = /\/stepfast:approve [0-9a-f]{4}/.exec(await terminal.screen()) ?? [];
  await enter(typed);
  await terminal.waitFor(/Stepfast: build .*\/clear/);
  await enter('/clear');
  await terminal.waitFor(/Stepfast: docs .*\/clear/);
  await enter('/clear');
  await terminal.waitFor(/✓ w complete/);
  expect(entered).toEqual(['/stepfast:start w add a page', typed, '/clear', '/clear']);
  const { state, events } = await stage.project.onlyRun();
  expect(await state()).toMatchObject({
    status: 'complete',
    outputs: { plan: { reviewed: expect.anything() } },
  });
  expect(await events('boundary.released')).toMatchObject([{ how: 'reset' }, { how: 'reset' }]);
  expect(
    (await events('position.completed')).every(({ receipts }) => receipts.every(({ pass }) => pass)),
  ).toBe(true);
});
