/** Trouble with the model service is waited out: it is never an attempt or a failure of the agent. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mainTurn, reply } from '../../../src/testing/index.ts';
import { drivenHost } from '../../kit/driven-host.ts';
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
    // The last of these is not retried by any host.
    const told = drivenHost().hidesStatus && status !== 401 ? undefined : status;
    const retries = await reportsOf(stage, 'retry');
    expect(retries.length).toBeGreaterThanOrEqual(6);
    expect(new Set(retries.map((each) => each.status))).toEqual(new Set([told]));
    await expectUntouched(stage);
  });
});
