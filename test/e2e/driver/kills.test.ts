/** Drivers that are killed, and the next one that goes on. */
import { expect, it } from 'vitest';
import { mainTurn, reply, summariser } from '../../../src/testing/index.ts';
import { killDrivers } from '../../kill/driver.ts';
import { shell } from '../../kit/driver-script.ts';
import { createHostileStage, eventsOf } from '../../kit/hostile-driver.ts';

it('in a compaction: the boundary that was asked of the dead session opens for the next one', async () => {
  const step = (id: string, more = ''): string =>
    `{ id: ${id}, type: action, instructions: Make it.${more}, gate: [{ run: test -f ${id}.txt }] }`;
  await using stage = await createHostileStage([step('one'), step('two', ', context: compact')]);
  stage.model.on(summariser(), reply.text('Too late.', { delayMs: 600_000 }));
  stage.model.always(mainTurn(), ({ body }) =>
    body.messages.some(({ content }) => JSON.stringify(content).includes('tool_result'))
      ? reply.text('Done.')
      : shell('touch one.txt two.txt'),
  );
  const first = stage.start(['w', '--no-wait']);
  await expect.poll(() => stage.model.requestsOf('summariser').length).toBe(1);
  first.child.kill('SIGKILL');
  await first.ended;
  const run = (await stage.run())?.run ?? '';
  expect(await stage.drive(['--run', run, '--no-wait'])).toMatchObject({ code: 0 });
  expect(await eventsOf(stage, 'boundary.reset')).toMatchObject([{ saw: 'new', by: 'driver' }]);
  expect(await eventsOf(stage, 'position.completed')).toHaveLength(2);
});

it('drivers that are killed and started again repeat nothing, lose nothing and leave nothing behind', async () => {
  const report = await killDrivers({ kills: 3, lanes: 1 });
  expect(report.findings).toEqual([]);
  expect(report).toMatchObject({
    worktreesLeft: 0,
    acceptedTwice: 0,
    startedTwice: 0,
    staleReceipts: 0,
    lost: 0,
    processesLeft: 0,
  });
  expect(report.kills).toBeGreaterThanOrEqual(3);
});
