/** Steps that the engine runs itself, between steps of an agent that never calls a Stepfast tool. */
import { afterEach, expect, it } from 'vitest';
import { commandLeftText, runEndedText } from '../../../src/messages/index.ts';
import { type ClaudeProject, lastUser, reply, toolCall } from '../../../src/testing/index.ts';
import {
  createCheckedProject,
  edit,
  gate,
  passes,
  release,
  shownIn,
  stateOf,
  step,
  told,
  typed,
  until,
  workflow,
} from './checked-project.ts';

let stage: ClaudeProject;
afterEach(async () => {
  await stage[Symbol.asyncDispose]();
});

const publish = `${until}; echo published; echo 42 > published.txt`;
const run = (id: string, command: string): string =>
  `  - { id: ${id}, type: run, run: ${JSON.stringify(command)} }\n`;

it('[L/run] the session ends its turn while the engine works, and is woken for the step that follows', async () => {
  stage = await createCheckedProject({
    '.stepfast/workflows/w.yaml': workflow(
      step('do', gate(passes)) +
        run('publish', publish) +
        run('tell', 'echo told').replace(' }', `, when: 'outputs.publish.contains("published")' }`) +
        run('skipped', 'exit 1').replace(' }', `, when: 'outputs.tell == null' }`) +
        step('end', gate('test -f notes.txt')),
    ),
  });
  stage.model.on(lastUser(/make it 42/), edit('42'), reply.text('Done.'));
  stage.model.on(told(/INSTRUCTIONS-END/), toolCall.bash('echo x > notes.txt'), reply.text('Noted.'));
  const session = await stage.open();
  const { events } = await session.send(typed);
  expect(shownIn(events)).toContain(commandLeftText(publish));
  expect(await stateOf(stage)).toMatchObject({ status: 'running', step: 'publish' });
  release(stage);
  const ended = runEndedText({
    workflow: 'w',
    status: 'complete',
    checks: [passes, publish, 'echo told', 'test -f notes.txt'],
    caught: 0,
  });
  await expect.poll(() => shownIn(session.events()), { timeout: 60_000 }).toContain(ended);
  await session.close();
  expect((await stateOf(stage)).outputs).toMatchObject({
    publish: { text: 'published' },
    tell: { text: 'told' },
    end: { text: 'Noted.' },
  });
});

it('[L/run] a command that fails is shown to the person, who runs it again', async () => {
  stage = await createCheckedProject({
    '.stepfast/workflows/w.yaml': workflow(run('set', 'test -f ready.txt') + step('end', gate(passes))),
  });
  stage.model.on(told(/INSTRUCTIONS-END/), edit('42'), reply.text('Done.'));
  stage.model.always(lastUser(/./), reply.text('I see.'));
  const session = await stage.open();
  await session.send(typed);
  await expect.poll(async () => (await stateOf(stage)).status).toBe('waiting');
  await session.send('what now?');
  expect(shownIn(session.events())).toContain('/stepfast:reject');
  await session.close();
});

it('[L/baseline] the session ends its turn while gates run before the work, and is woken for the work', async () => {
  const checked = `${until}; test -f notes.txt`;
  stage = await createCheckedProject({
    '.stepfast/workflows/w.yaml': workflow(
      step('do', gate(passes)) + step('end', gate(checked).replace(' }', ', baseline: true }')),
    ),
  });
  stage.model.on(lastUser(/make it 42/), edit('42'), reply.text('Done.'));
  stage.model.on(told(/INSTRUCTIONS-END/), toolCall.bash('echo x > notes.txt'), reply.text('Noted.'));
  const session = await stage.open();
  const { events } = await session.send(typed);
  expect(shownIn(events)).toContain(commandLeftText(checked));
  expect(await stateOf(stage)).toMatchObject({ cursors: { end: { preparing: { kind: 'baseline' } } } });
  release(stage);
  const ended = runEndedText({ workflow: 'w', status: 'complete', checks: [passes, checked], caught: 0 });
  await expect.poll(() => shownIn(session.events()), { timeout: 60_000 }).toContain(ended);
  await session.close();
  expect((await stateOf(stage)).outputs.end).toMatchObject({
    text: 'Noted.',
    receipts: [{ pass: true, before: 'fail' }],
  });
});
