/** An agent that never calls a Stepfast tool, through everything that can happen to its session before the end. */
import { afterEach, expect, it } from 'vitest';
import { runEndedText } from '../../../src/messages/index.ts';
import { allOf, type ClaudeProject, lastUser, reply } from '../../../src/testing/index.ts';
import { passes } from '../../kit/checked-workflow.ts';
import {
  createCheckedProject,
  edit,
  goWith,
  insists,
  shownIn,
  stateOf,
  told,
  verdictsOf,
} from './checked-project.ts';

let stage: ClaudeProject;
afterEach(async () => {
  await stage[Symbol.asyncDispose]();
});

it('[U3] [U14] after three held stops and an exit, claude -c knows the task, and the person sees the proven end', async () => {
  stage = await createCheckedProject({ '.stepfast/workflows/go.yaml': goWith(passes) });
  insists(stage, edit('43'), reply.text('Done! All tests pass.'));
  await stage.run({ prompts: ['/stepfast:go make it 42'] });
  // Only who has the instructions of the step can fix it. The host itself repeats the typed line.
  stage.model.on(
    allOf(lastUser(/^continue/), told(/In the user's words: make it 42/)),
    edit('42'),
    reply.text('Fixed.'),
  );
  const { events } = await stage.run({ prompts: ['continue'], args: ['--continue'] });
  const proven = { workflow: 'go', status: 'complete', checks: [passes], caught: 4 } as const;
  expect(shownIn(events)).toContain(runEndedText(proven));
  expect(await verdictsOf(stage)).toEqual([false, false, false, false, true]);
  expect(await stateOf(stage)).toMatchObject({ status: 'complete', outputs: { do: { text: 'Fixed.' } } });
});
