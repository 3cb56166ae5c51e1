/** Trouble with the model service is waited out: it is never an attempt or a failure of the agent. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mainTurn, reply, toolCall } from '../../../src/testing/index.ts';
import type { DriverStage } from '../../kit/driver-run.ts';
import { createHostileStage, eventsOf, reportsOf } from '../../kit/hostile-driver.ts';

let stage: DriverStage;
beforeEach(async () => {
  stage = await createHostileStage([
    '{ id: build, type: action, instructions: INSTRUCTIONS-BUILD, gate: [{ run: test -f done.txt }] }',
  ]);
});
afterEach(async () => await stage[Symbol.asyncDispose]());

const works = (): void => stage.model.on(mainTurn(), toolCall.bash('touch done.txt'), reply.text('Done.'));

/** One session, one turn, one check: the failures of the service have left no trace in the run. */
async function expectUntouched(): Promise<void> {
  const view = await stage.run();
  expect(view?.state.status).toBe('complete');
  expect((await eventsOf(stage, 'gates.requested')).length).toBe(1);
  expect(await eventsOf(stage, 'position.completed')).toMatchObject([{ receipts: [{ pass: true }] }]);
  for (const type of ['position.failed', 'position.blocked', 'run.blocked', 'run.failed'] as const)
    expect(await eventsOf(stage, type)).toEqual([]);
  expect((await reportsOf(stage, 'session')).map(({ why }) => why)).toEqual(['start']);
  expect(Object.values(view?.state.told ?? {}).map(({ turns }) => turns)).toEqual([1]);
  const prompts = stage.model.requestsOf('main').map(({ lastUser }) => lastUser);
  for (const prompt of prompts) expect(prompt).toMatch(/INSTRUCTIONS-BUILD/);
}

describe.each([
  [429, 'rate_limit_error', 'Too many requests'],
  [500, 'api_error', 'Internal server error'],
  [529, 'overloaded_error', 'Overloaded'],
  [401, 'authentication_error', 'invalid x-api-key'],
])('%i %s', (status, type, message) => {
  it('more often than an agent may fail: the run waits and completes', async () => {
    stage.env.CLAUDE_CODE_MAX_RETRIES = '0';
    stage.model.on(mainTurn(), ...Array(6).fill(reply.error(status, type, message)));
    works();
    expect(await stage.drive(['w', '--no-wait'])).toMatchObject({ code: 0 });
    const retries = await reportsOf(stage, 'retry');
    expect(retries.length).toBeGreaterThanOrEqual(6);
    expect(new Set(retries.map((each) => each.status))).toEqual(new Set([status]));
    await expectUntouched();
  });
});

it('a service that the host waits for by itself is shown, and costs nothing', async () => {
  stage.env.CLAUDE_CODE_MAX_RETRIES = '2';
  stage.model.on(mainTurn(), reply.error(429, 'rate_limit_error', 'Slow down', { 'retry-after': '3' }));
  works();
  expect(await stage.drive(['w', '--no-wait'])).toMatchObject({ code: 0 });
  const [first, second] = stage.model.requestsOf('main');
  expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(2_900);
  expect(await reportsOf(stage, 'retry')).toMatchObject([{ status: 429, until: expect.any(Number) }]);
  await expectUntouched();
});

describe('a usage limit with the time of its reset is waited for', () => {
  const unified = (reset: number) => ({
    'anthropic-ratelimit-unified-status': 'rejected',
    'anthropic-ratelimit-unified-reset': String(reset),
    'anthropic-ratelimit-unified-representative-claim': 'five_hour',
  });

  it.each(['text', 'headers'])('in its %s', async (where) => {
    stage.env.CLAUDE_CODE_MAX_RETRIES = '0';
    if (where === 'headers') {
      delete stage.env.ANTHROPIC_API_KEY;
      stage.env.CLAUDE_CODE_OAUTH_TOKEN = 'sk-ant-oat01-dummy';
    }
    let reset = 0;
    stage.model.on(mainTurn(), () => {
      reset = Math.floor(Date.now() / 1000) + 8;
      return where === 'headers'
        ? reply.error(429, 'rate_limit_error', 'Limit', unified(reset))
        : reply.error(429, 'rate_limit_error', `Claude AI usage limit reached|${reset}`);
    });
    works();
    expect(await stage.drive(['w', '--no-wait'])).toMatchObject({ code: 0 });
    const [, second] = stage.model.requestsOf('main');
    expect(second?.at).toBeGreaterThanOrEqual(reset * 1000);
    expect(await reportsOf(stage, 'retry')).toMatchObject([{ status: 429, until: reset * 1000 }]);
    await expectUntouched();
  });
});
