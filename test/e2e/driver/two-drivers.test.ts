/** Two drivers of one run at once: exactly one drives. */
import { setTimeout } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { mainTurn, reply } from '../../../src/testing/index.ts';
import { markedProcesses } from '../../../src/workspace/index.ts';
import type { DriverProcess, DriverStage, Ended } from '../../kit/driver-run.ts';
import { shell } from '../../kit/driver-script.ts';
import { createHostileStage, eventsOf, reportsOf } from '../../kit/hostile-driver.ts';

let stage: DriverStage;
afterEach(async () => await stage[Symbol.asyncDispose]());

const rounds = 5;

it('two that start together after the last was killed: one drives at once, the other is refused', async () => {
  stage = await createHostileStage([
    '{ id: build, type: action, instructions: INSTRUCTIONS-BUILD, gate: [{ run: test -f done.txt }] }',
  ]);
  let isHeld = true;
  stage.model.always(mainTurn(), async (request) => {
    while (isHeld) await setTimeout(50);
    return /touch done/.test(JSON.stringify(request.body.messages))
      ? reply.text('Done.')
      : shell('touch done.txt');
  });
  let driver = stage.start(['w', '--no-wait']);
  await expect.poll(async () => (await reportsOf(stage, 'taken')).length).toBe(1);
  const run = (await stage.run())?.run ?? '';
  for (let round = 1; round <= rounds; round += 1) {
    driver.child.kill('SIGKILL');
    await driver.ended;
    const both = [0, 1].map(() => stage.start(['--run', run, '--no-wait', '--json']));
    const { refused, other } = await firstToEnd(both);
    expect(refused.code).toBe(1);
    expect(JSON.parse(refused.stdout)).toMatchObject({ code: 'driver_held' });
    driver = other;
    await expect.poll(async () => (await reportsOf(stage, 'taken')).length).toBe(round + 1);
    const taken = await eventsOf(stage, 'driver.taken');
    expect(taken.map(({ epoch }) => epoch)).toEqual(
      Array.from({ length: round + 1 }, (_, index) => index + 1),
    );
    expect(taken.at(-1)?.process.pid).toBe(driver.child.pid);
  }
  isHeld = false;
  expect(await driver.ended).toMatchObject({ code: 0 });
  expect((await stage.run())?.state.status).toBe('complete');
  expect(await eventsOf(stage, 'position.completed')).toHaveLength(1);
  expect(markedProcesses(`${run}/`)).toEqual([]);
});

async function firstToEnd(both: readonly DriverProcess[]): Promise<{ refused: Ended; other: DriverProcess }> {
  const { refused, index } = await Promise.race(
    both.map(async ({ ended }, at) => ({ refused: await ended, index: at })),
  );
  const other = both[1 - index];
  if (!other) throw new Error('There are two drivers.');
  return { refused, other };
}
