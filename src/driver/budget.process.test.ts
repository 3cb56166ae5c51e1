/** Budgets, and the bound of a run whose workflow has none. */
import { afterEach, describe, expect, it } from 'vitest';
import { createScriptedRun, type DriveRequest, type ScriptedRun } from '../../test/kit/scripted-run.ts';

let stage: ScriptedRun;
afterEach(async () => await stage[Symbol.asyncDispose]());

const work = (more = ''): string => `steps:
  - { id: work, type: action, instructions: INSTRUCTIONS-WORK, gate: [{ run: test -f done.txt }]${more} }
`;

it.each([
  ['turns', '1', { turns: 3 }],
  ['tokens', '60000', { tokens: 1_000_000 }],
  ['cost', '0.1', { cost: 100 }],
] as const)(
  'a budget of %s that is used up waits for a person, who may extend it',
  async (unit, limit, amount) => {
    stage = await createScriptedRun(work(`, budget: { ${unit}: ${limit} }`));
    stage.agent.on(/INSTRUCTIONS-WORK/, ({ spend }) => spend(70_000, 0.2));
    expect(await stage.drive()).toBe('waits');
    expect(await stage.events('budget.exhausted')).toMatchObject([{ what: unit }]);
    expect(await stage.drive()).toBe('waits');
    expect(stage.agent.prompts).toHaveLength(1);
    await stage.decide({ type: 'review', verdict: 'approve', amount });
    stage.agent.on(/./, ({ write }) => write('done.txt'));
    await stage.complete();
    expect(await stage.events('budget.extended')).toMatchObject([{ amount, by: 'ann' }]);
  },
);

it('a budget that is used up in a turn interrupts it, and a driver that waits continues', async () => {
  stage = await createScriptedRun(`budget: { tokens: 60000 }\n${work()}`);
  stage.agent.on(/INSTRUCTIONS-WORK/, ({ spend, hang }) => {
    spend(70_000);
    return hang();
  });
  const driver = stage.start();
  await stage.until(({ status }) => status === 'waiting');
  await expect.poll(() => stage.reported('interrupted')).toMatchObject([{ why: 'budget' }]);
  stage.agent.on(/./, ({ write }) => write('done.txt'));
  await stage.decide({ type: 'review', verdict: 'approve', amount: { tokens: 1_000_000 } });
  expect(await driver.ended).toEqual({ end: 'complete' });
  expect(await stage.events('budget.exhausted')).toMatchObject([{ what: 'tokens', of: 'run' }]);
});

describe('without a budget', () => {
  const hour = 3_600_000;
  const begin = async (): Promise<void> => {
    stage = await createScriptedRun('steps:\n  - { id: polish, type: ralph, n: 5, instructions: ROUND }\n');
    stage.agent.always(/ROUND/, ({ advance }) => advance('Next.'));
  };
  const isPaused = async (): Promise<void> => void (await stage.until(({ paused }) => paused !== undefined));
  const turns = { timing: { bounds: { turns: 2, ms: hour } } };

  it('the run is paused after each number of turns, until a person unpauses it', async () => {
    await begin();
    expect(await stage.drive(turns)).toBe('paused');
    expect(await stage.drive(turns)).toBe('paused');
    expect(stage.agent.prompts).toHaveLength(2);
    const driver = stage.start(turns);
    await expect.poll(() => stage.reported('waits').length).toBe(3);
    await stage.decide({ type: 'unpause' });
    await isPaused();
    expect(stage.agent.prompts).toHaveLength(4);
    await stage.decide({ type: 'unpause' });
    expect(await driver.ended).toEqual({ end: 'complete' });
  });

  it('the run is paused after so much time, until a person unpauses it', async () => {
    await begin();
    stage.agent.on(/ROUND/, async ({ advance }) => {
      stage.skip(2 * hour);
      await advance('Slow.');
    });
    const driver = stage.start({ timing: { bounds: { turns: 200, ms: hour } } });
    await isPaused();
    await expect.poll(() => stage.reported('waits').length).toBe(1);
    expect(stage.agent.prompts).toHaveLength(1);
    await stage.decide({ type: 'unpause' });
    expect(await driver.ended).toEqual({ end: 'complete' });
  });

  it('a worker begins no turn beyond the bound, before the driver looks again', async () => {
    await begin();
    const { runtime } = stage;
    const never = { ...runtime.engine, watch: () => new Promise<undefined>(() => {}) };
    const more: DriveRequest['more'] = { runtime: { ...runtime, engine: never } };
    expect(await stage.drive({ timing: { ...turns.timing, pollMs: hour }, more })).toBe('paused');
    expect(stage.agent.prompts).toHaveLength(2);
  });
});
