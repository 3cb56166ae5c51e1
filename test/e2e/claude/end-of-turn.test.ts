/** `stop: check`: the end of a turn is a check. The agent never calls a Stepfast tool. */
import { readFileSync, writeFileSync } from 'node:fs';
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
import { createClaudeProject } from '../../kit/claude.ts';

const workflow = (gate: string, more = '') => `name: w
description: Does it
stop: check
steps:
  - { id: do, type: action, instructions: INSTRUCTIONS-DO, gate: [{ run: "${gate}" }] }
${more}`;

const passes = 'grep -q 42 total.txt || { echo not ok 1 - the total is wrong; exit 1; }';
const next = '  - { id: end, type: action, instructions: INSTRUCTIONS-END }\n';

let stage: ClaudeProject;
afterEach(async () => {
  await stage[Symbol.asyncDispose]();
});

const shownIn = (events: readonly object[]): string =>
  events
    .flatMap((event) =>
      'subtype' in event && event.subtype === 'informational' && 'content' in event ? [event.content] : [],
    )
    .join('\n');

async function begin(text: string): Promise<void> {
  stage = await createClaudeProject({ '.stepfast/workflows/w.yaml': text, 'total.txt': '41\n' });
  stage.project.trust('w');
}

const state = async () => await (await stage.project.onlyRun()).state();
const typed = '/stepfast:start w make it 42';

const write = (name: string, content: string) =>
  reply.tool('Write', { file_path: join(stage.project.root, name), content });
const edit = (content: string) => toolCall.bash(`echo ${content} > total.txt`);

/** The agent has this in its context. */
const told =
  (text: RegExp): Parameters<typeof stage.model.on>[0] =>
  (request) =>
    text.test(contextOf(request));

/** Uses the tool and says the text, at every prompt and after every feedback. */
function insists(
  tool: Parameters<typeof stage.model.always>[1],
  text: Parameters<typeof stage.model.always>[1],
): void {
  let count = 0;
  stage.model.always(lastUser(/./), (request) => {
    count += 1;
    const step = count % 2 === 1 ? tool : text;
    return typeof step === 'function' ? step(request) : step;
  });
}

describe('an agent that never calls a Stepfast tool', () => {
  it('[U3] a false "done" is caught at the stop, the fix is recognized, and the run completes', async () => {
    await begin(workflow(passes));
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
    await begin(workflow(passes));
    insists(edit('43'), reply.text('Done! All tests pass.'));
    const ran = await stage.run({ prompts: [typed, 'again', 'and again'] });
    expect((await state()).cursors.do?.stops).toBe(3);
    expect(await state()).toMatchObject({ status: 'running' });
    expect(shownIn(ran.events).match(/grep -q 42/g)?.length).toBeGreaterThanOrEqual(3);
  });

  it('[U13] a question and a remark are left alone', async () => {
    await begin(workflow(passes));
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
    await begin(workflow(passes, next));
    stage.model.on(lastUser(/make it 42/), edit('42'), reply.text('Done.'));
    stage.model.on(lastUser(/./), reply.text('Reading.'));
    const ran = await stage.run({ prompts: [typed] });
    const last = ran.requests.requestsOf('main').at(-1);
    expect(last && contextOf(last)).toContain('INSTRUCTIONS-END');
    expect((await state()).step).toBe('end');
  });

  it('[U20] a step with a fresh context goes to a subagent first, and is left to the parent where it did not advance', async () => {
    const fresh =
      '  - { id: build, type: action, context: clear, instructions: INSTRUCTIONS-BUILD, gate: [{ run: "grep -q built built.txt" }] }\n';
    await begin(workflow(passes, fresh));
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
    await begin(workflow(passes));
    stage.model.on(lastUser(/make it 42/), edit('42'), reply.text('Shall I commit it?'));
    const ran = await stage.run({ prompts: [typed] });
    expect((await state()).cursors.do?.checked).toMatchObject({ pass: true });
    expect(shownIn(ran.events)).not.toBe('');
  });

  it('a step without a gate reminds once, then tells the person', async () => {
    await begin(`name: w
description: Plans
stop: check
steps:
  - { id: plan, type: action, instructions: INSTRUCTIONS-PLAN }
`);
    insists(write('plan.md', '# Plan\n'), reply.text('Planned.'));
    const ran = await stage.run({ prompts: [typed, 'again'] });
    expect((await state()).cursors.plan?.stops).toBe(1);
    expect(shownIn(ran.events)).toContain("'plan'");
  });
});

it('[U3] a slow gate runs in the background and wakes the session', async () => {
  await begin(workflow(`sleep 24; ${passes}`));
  stage.model.on(lastUser(/make it 42/), edit('43'), reply.text('Done!'));
  stage.model.on(told(/not ok 1/), edit('42'), reply.text('Fixed.'));
  const session = await stage.open();
  await session.send(typed);
  await expect.poll(async () => (await state()).status, { timeout: 120_000, interval: 500 }).toBe('complete');
  await session.close();
  writeFileSync(join(stage.project.root, 'end'), '');
}, 180_000);
