/** How Claude Code itself waits for its service, and how it tells that a usage limit ends. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mainTurn, reply } from '../../../src/testing/index.ts';
import type { DriverStage } from '../../kit/driver-run.ts';
import { shell } from '../../kit/driver-script.ts';
import { createHostileStage, expectUntouched, reportsOf } from '../../kit/hostile-driver.ts';

let stage: DriverStage;
beforeEach(async () => {
  stage = await createHostileStage([
    '{ id: build, type: action, instructions: INSTRUCTIONS-BUILD, gate: [{ run: test -f done.txt }] }',
  ]);
});
afterEach(async () => await stage[Symbol.asyncDispose]());

const works = (): void => stage.model.on(mainTurn(), shell('touch done.txt'), reply.text('Done.'));

it('a service that the host waits for by itself is shown, and costs nothing', async () => {
  stage.env.CLAUDE_CODE_MAX_RETRIES = '2';
  stage.model.on(mainTurn(), reply.error(429, 'rate_limit_error', 'Slow down', { 'retry-after': '3' }));
  works();
  expect(await stage.drive(['w', '--no-wait'])).toMatchObject({ code: 0 });
  const [first, second] = stage.model.requestsOf('main');
  expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(2_900);
  expect(await reportsOf(stage, 'retry')).toMatchObject([{ status: 429, until: expect.any(Number) }]);
  await expectUntouched(stage);
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
    await expectUntouched(stage);
  });
});
