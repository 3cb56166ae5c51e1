/** `stop: check`: the end of a turn is a check. The agent never calls a Stepfast tool. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type ClaudeProject,
  contextOf,
  lastUser,
  reply,
  subagent,
  toolCall,
} from '../../../src/testing/index.ts';
import {
  createCheckedProject,
  edit,
  gate,
  insists,
  passes,
  shownIn,
  stateOf,
  step,
  told,
  typed,
  workflow,
} from './checked-project.ts';

let stage: ClaudeProject;
afterEach(async () => {
  await stage[Symbol.asyncDispose]();
});

const begin = async (run: string, next = ''): Promise<void> => {
  stage = await createCheckedProject({
    '.stepfast/workflows/w.yaml': workflow(step('do', gate(run)) + next),
  });
};
const state = async () => await stateOf(stage);

describe('an agent that never calls a Stepfast tool', () => {
  it('[U3] a false "done" is caught at the stop, the fix is recognized, and the run completes', async () => {
    await begin(passes);
    stage.model.on(lastUser(/make it 42/), edit('43'), reply.text('Done! All tests pass.'));
    stage.model.on(told(/not ok/), edit('42'), reply.text('Now it is done.'));
    const ran = await stage.run({ prompts: [typed] });
    const requests = ran.requests.requestsOf('main').map((request) => contextOf(request));
    expect(requests.some((context) => context.includes('> not ok 1 - the total is wrong'))).toBe(true);
    expect(await state()).toMatchObject({
      status: 'complete',
      outputs: { do: { text: 'Now it is done.', receipts: [{ pass: true }] } },
    });
    expect(readFileSync(join(stage.project.root, 'total.txt'), 'utf8')).toBe('42\n');
  });

  it('[U2] one that insists is held three times, and the person sees what is red at every stop', async () => {
    await begin(passes);
    insists(stage, edit('43'), reply.text('Done! All tests pass.'));
    const ran = await stage.run({ prompts: [typed, 'again', 'and again'] });
    expect((await state()).cursors.do?.stops).toBe(3);
    expect(await state()).toMatchObject({ status: 'running' });
    expect(shownIn(ran.events).match(/grep -q 42/g)?.length).toBeGreaterThanOrEqual(3);
  });

  it('[U13] a question and a remark are left alone', async () => {
    await begin(passes);
    stage.model.on(lastUser(/make it 42/), reply.text('I will.'));
    stage.model.on(
      lastUser(/what is/),
      reply.tool('Read', { file_path: join(stage.project.root, 'total.txt') }),
      reply.text('It is 41.'),
    );
    stage.model.on(lastUser(/thanks/), reply.text('You are welcome.'));
    const ran = await stage.run({ prompts: [typed, 'what is in total.txt?', 'thanks'] });
    expect(ran.requests.requestsOf('main')).toHaveLength(4);
    expect((await state()).cursors.do).toMatchObject({ stops: 0, checks: 0 });
  });

  it('green hands the next position over in the same turn', async () => {
    await begin(passes, step('end', 'attempts: 1'));
    stage.model.on(lastUser(/make it 42/), edit('42'), reply.text('Done.'));
    stage.model.on(lastUser(/./), reply.text('Reading.'));
    const ran = await stage.run({ prompts: [typed] });
    const last = ran.requests.requestsOf('main').at(-1);
    expect(last && contextOf(last)).toContain('INSTRUCTIONS-END');
    expect((await state()).step).toBe('end');
  });

  it('[U20] a step with a fresh context goes to a subagent first, and is left to the parent where it did not advance', async () => {
    await begin(passes, step('build', `context: clear, ${gate('grep -q built built.txt')}`));
    stage.model.on(lastUser(/make it 42/), edit('42'), reply.text('Done.'));
    stage.model.on(
      told(/to a subagent, or end/),
      (request) => {
        const [at = ''] = /\b\w+:build#1/.exec(contextOf(request)) ?? [];
        return reply.tool('Agent', {
          description: 'Builds',
          subagent_type: 'general-purpose',
          prompt: `Build it: ${at}`,
          run_in_background: false,
        });
      },
      reply.text('The subagent has built it.'),
    );
    stage.model.on(
      subagent(/Build it: /),
      toolCall.bash('echo built > built.txt'),
      reply.text('I have built it, and advanced nothing.'),
    );
    const ran = await stage.run({ prompts: [typed] });
    expect(shownIn(ran.events)).toContain("'build'");
    const [handed] = ran.requests.requestsOf('subagent');
    expect(handed && contextOf(handed)).toContain('INSTRUCTIONS-BUILD');
    expect(await state()).toMatchObject({
      status: 'complete',
      outputs: { build: { text: 'The subagent has built it.', receipts: [{ pass: true }] } },
    });
  });

  it('a last message that is a question keeps the position open, though green', async () => {
    await begin(passes);
    stage.model.on(lastUser(/make it 42/), edit('42'), reply.text('Shall I commit it?'));
    const ran = await stage.run({ prompts: [typed] });
    expect((await state()).cursors.do?.checked).toMatchObject({ pass: true });
    expect(shownIn(ran.events)).not.toBe('');
  });
});

it('[U3] a slow gate runs in the background and wakes the session', async () => {
  await begin(`sleep 24; ${passes}`);
  stage.model.on(lastUser(/make it 42/), edit('43'), reply.text('Done!'));
  stage.model.on(told(/not ok 1/), edit('42'), reply.text('Fixed.'));
  const session = await stage.open();
  await session.send(typed);
  await expect.poll(async () => (await state()).status, { timeout: 120_000, interval: 500 }).toBe('complete');
  await session.close();
}, 180_000);
