/** Claude Code without a person, as the driver uses it: the contract, and facts of this host alone. */
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { contextOf, lastUser, reply, subagent, toolCall } from '../../../src/testing/index.ts';
import { claudeHost } from '../../kit/claude-host.ts';
import { createDrivenProject, type DrivenProject } from '../../kit/driven.ts';
import { drivenSuite } from '../../kit/driven-suite.ts';

drivenSuite(claudeHost);

describe('Claude Code alone', () => {
  let stage: DrivenProject;
  beforeEach(async () => {
    stage = await createDrivenProject();
  });
  afterEach(async () => await stage[Symbol.asyncDispose]());

  const of = (type: string) => stage.events.filter((event) => event.type === type);
  const seen = (): string => contextOf(stage.model.requestsOf('main').at(-1) ?? expect.unreachable());

  it('a session that was ended is resumed, and its new process has spent nothing', async () => {
    stage.model.always(lastUser(/./), () => reply.text('Yes.'));
    const session = await stage.open();
    for (const prompt of ['one', 'two', 'three']) await session.send(prompt);
    const before = await session.send('four');
    await session.end();
    const again = await stage.open({ resume: session.session });
    const { spent } = await again.send('five');
    expect(spent.tokens).toBeLessThan(before.spent.tokens / 2);
    expect(spent.cost).toBeLessThan((before.spent.cost ?? 0) / 2);
  });

  it('a turn ends when the subagents that it left in the background have ended', async () => {
    let release: (() => void) | undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    stage.model.on(
      lastUser(/go/),
      toolCall.agent('INNER work', { background: true }),
      reply.text('Started.'),
    );
    stage.model.on(subagent(), async () => {
      await released;
      return reply.text('Inner done.');
    });
    stage.model.always(lastUser(/./), () => reply.text('All done.'));
    const session = await stage.open({ tools: ['Agent'] });
    const turn = session.send('go');
    await expect.poll(() => of('text')).toContainEqual({ type: 'text', text: 'Started.' });
    release?.();
    expect(await turn).toMatchObject({ lastMessage: 'All done.' });
  });

  it('a turn ends when the model has heard of every subagent that ended while it wrote its answer', async () => {
    const inner = toolCall.agent('INNER work', { background: true });
    const answer = async () => {
      await setTimeout(1_000);
      return reply.text('Started.');
    };
    stage.model.on(lastUser(/go/), inner, inner, answer);
    stage.model.always(subagent(), () => reply.text('Inner done.'));
    stage.model.always(lastUser(/./), () => reply.text('All done.'));
    const session = await stage.open({ tools: ['Agent'] });
    expect(await session.send('go')).toMatchObject({ lastMessage: 'All done.' });
    expect(seen().match(/<task-notification>/g)).toHaveLength(2);
  });
});
