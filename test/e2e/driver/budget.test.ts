/** Budgets that count by themselves, and the bound of a workflow without one. */
import { afterEach, describe, expect, it } from 'vitest';
import { lastUser, mainTurn, reply, toolCall } from '../../../src/testing/index.ts';
import { complete, type DriverStage, expectComplete, stageWith } from '../../kit/driver-run.ts';
import { shell, turnsOf, write } from '../../kit/driver-script.ts';

let stage: DriverStage;
afterEach(async () => await stage[Symbol.asyncDispose]());

const begin = async (budget: string): Promise<void> => {
  stage = await stageWith(`steps:
  - { id: work, type: action, instructions: INSTRUCTIONS-WORK, gate: [{ run: test -f done.txt }]${budget} }
`);
};

/** A first turn that gets nowhere and costs this much, and a second one that does the work. */
function play(usage: { input_tokens: number }): void {
  stage.model.on(lastUser(/INSTRUCTIONS-WORK/), reply.text('Not yet.', { usage }));
  stage.model.on(mainTurn(), write('done.txt'), reply.text('Done.'));
}

describe.each([
  ['turns', '1', { turns: 3 }, 10],
  ['tokens', '60000', { tokens: 1_000_000 }, 70_000],
  ['cost', '0.1', { cost: 100 }, 200_000],
] as const)('a budget of %s', (unit, limit, amount, tokens) => {
  it('that is used up waits for a person, and more of it continues', async () => {
    await begin(`, budget: { ${unit}: ${limit} }`);
    play({ input_tokens: tokens });
    if (!stage.driver.reports.includes(unit)) {
      // Never counted, it would never stop anything.
      expect(await stage.drive(['w', '--no-wait'])).toMatchObject({ code: 1 });
      expect(turnsOf(stage.model)).toEqual([]);
      return;
    }
    expect(await stage.drive(['w', '--no-wait'])).toMatchObject({ code: 4 });
    const { run, status } = await stage.state();
    expect(status).toBe('waiting');
    expect(await stage.eventsOf('budget.exhausted')).toMatchObject([{ what: unit }]);
    const asked = turnsOf(stage.model).length;
    expect(await stage.drive(['--run', run, '--no-wait'])).toMatchObject({ code: 4 });
    expect(turnsOf(stage.model)).toHaveLength(asked);
    await stage.decide({ type: 'review', verdict: 'approve', amount });
    await complete(stage, ['--run', run, '--no-wait']);
    expect(await stage.eventsOf('budget.extended')).toMatchObject([{ amount, by: 'ann' }]);
  });
});

it('a budget of the whole run that is used up in a turn ends the turn, and a driver that waits goes on', async () => {
  stage = await stageWith(`budget: { tokens: 60000 }
steps:
  - { id: work, type: action, instructions: INSTRUCTIONS-WORK, gate: [{ run: test -f done.txt }] }
`);
  const { model } = stage;
  const extended = Promise.withResolvers<void>();
  model.on(
    lastUser(/INSTRUCTIONS-WORK/),
    shell('echo expensive', { usage: { input_tokens: 70_000 } }),
    // The turn may be ended before it asks for this.
    async () => {
      await extended.promise;
      return reply.text('Not yet.');
    },
  );
  model.on(mainTurn(), write('done.txt'), reply.text('Done.'));
  const driver = stage.start(['w']);
  await stage.until(({ status }) => status === 'waiting');
  await expect.poll(async () => await stage.activity('interrupted')).toMatchObject([{ why: 'budget' }]);
  await stage.decide({ type: 'review', verdict: 'approve', amount: { tokens: 1_000_000 } });
  extended.resolve();
  expect(await driver.ended, driver.printed()).toMatchObject({ code: 0 });
  await expectComplete(stage);
  expect(await stage.eventsOf('budget.exhausted')).toMatchObject([{ what: 'tokens', of: 'run' }]);
});

describe('without a budget', () => {
  /** Four turns. */
  const rounds = async (): Promise<void> => {
    stage = await stageWith(`steps:
  - { id: polish, type: ralph, n: 4, instructions: "ROUND-{iteration}-" }
`);
    for (const round of [1, 2, 3, 4])
      stage.model.on(
        lastUser(new RegExp(`ROUND-${round}-`)),
        toolCall.advance(`Round ${round}.`),
        reply.text('Next.'),
      );
  };
  const bounds = { turns: 2, ms: 3_600_000 };

  it('the run is paused after so many turns, and a person lets it have as many more', async () => {
    await rounds();
    expect(await stage.drive(['w', '--no-wait'], { bounds })).toMatchObject({ code: 4 });
    const { run, paused } = await stage.state();
    expect(paused).toBeDefined();
    expect(await stage.activity('turn')).toHaveLength(2);
    expect(await stage.drive(['--run', run, '--no-wait'], { bounds })).toMatchObject({ code: 4 });
    expect(await stage.activity('turn')).toHaveLength(2);
    const driver = stage.start(['--run', run], { bounds });
    await stage.decide({ type: 'unpause' });
    expect(await driver.ended, driver.printed()).toMatchObject({ code: 0 });
    await expectComplete(stage);
  });

  it('the run is paused after so much time, and goes on when a person lets it', async () => {
    await rounds();
    const driver = stage.start(['w'], { bounds: { turns: 200, ms: 1 } });
    await stage.until(({ paused }) => paused !== undefined);
    driver.child.kill('SIGTERM');
    await driver.ended;
    const { run } = await stage.state();
    await stage.decide({ type: 'unpause' });
    await complete(stage, ['--run', run, '--no-wait']);
  });
});
