/** Steps that the engine runs itself, between steps of an agent that never calls a Stepfast tool. */
import { afterEach, expect, it } from 'vitest';
import { commandLeftText, runEndedText } from '../../../src/messages/index.ts';
import { type ClaudeProject, lastUser, reply, toolCall } from '../../../src/testing/index.ts';
import { gate, passes, step, until, workflow } from '../../kit/checked-workflow.ts';
import { createCheckedProject, edit, release, shownIn, stateOf, told, typed } from './checked-project.ts';

let stage: ClaudeProject;
afterEach(async () => {
  await stage[Symbol.asyncDispose]();
});

const publish = `${until}; echo published; echo 42 > published.txt`;
const run = (id: string, command: string): string =>
  `  - { id: ${id}, type: run, run: ${JSON.stringify(command)} }\n`;

it('[L/run] [L/baseline] the session ends its turn while the engine works, and is woken for what follows', async () => {
  const checked = 'test -f notes.txt';
  stage = await createCheckedProject({
    '.stepfast/workflows/w.yaml': workflow(
      step('do', gate(passes)) +
        run('publish', publish) +
        run('tell', 'echo told').replace(' }', `, when: 'outputs.publish.contains("published")' }`) +
        run('skipped', 'exit 1').replace(' }', `, when: 'outputs.tell == null' }`) +
        step('end', gate(checked).replace(' }', ', baseline: true }')),
    ),
  });
  stage.model.on(lastUser(/make it 42/), edit('42'), reply.text('Done.'));
  stage.model.on(told(/INSTRUCTIONS-END/), toolCall.bash('echo x > notes.txt'), reply.text('Noted.'));
  const session = await stage.open();
  const { events } = await session.send(typed);
  expect(shownIn(events)).toContain(commandLeftText(publish));
  expect(await stateOf(stage)).toMatchObject({ status: 'running', step: 'publish' });
  release(stage);
  const checks = [passes, publish, 'echo told', checked];
  const ended = runEndedText({ workflow: 'w', status: 'complete', checks, caught: 0 });
  await expect.poll(() => shownIn(session.events())).toContain(ended);
  await session.close();
  expect((await stateOf(stage)).outputs).toMatchObject({
    publish: { text: 'published' },
    tell: { text: 'told' },
    end: { text: 'Noted.', receipts: [{ pass: true, before: 'fail' }] },
  });
});
