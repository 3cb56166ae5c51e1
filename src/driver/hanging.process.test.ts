/** Agents that hang, crash, or do not stop. */
import { afterEach, expect, it } from 'vitest';
import type { ScriptedTurn } from '../../test/kit/scripted-host.ts';
import { createScriptedRun, type ScriptedRun } from '../../test/kit/scripted-run.ts';
import { markedProcesses } from '../workspace/index.ts';

let stage: ScriptedRun;
let time: NodeJS.Timeout | undefined;
afterEach(async () => {
  clearInterval(time);
  await stage[Symbol.asyncDispose]();
});

const minute = 60_000;
const begin = async (): Promise<void> => {
  stage = await createScriptedRun(`steps:
  - { id: build, type: action, instructions: INSTRUCTIONS-BUILD, gate: [{ run: test -f done.txt }] }
`);
};
/** The driver's clock runs fast from now on. */
const hurry = (): void => {
  clearInterval(time);
  time = setInterval(() => stage.skip(minute), 2);
};
const hangs = ({ hang }: ScriptedTurn): Promise<never> => {
  hurry();
  return hang();
};
const works = (): void =>
  stage.agent.on(/./, ({ write }) => {
    // Gates have a deadline.
    clearInterval(time);
    write('done.txt');
  });
const reasons = () => stage.reported('session').map(({ why }) => why);
const crash = ({ fail }: ScriptedTurn): void => fail({ kind: 'exit', code: 1, signal: null, text: '' });
/** How long the first turn took, by the driver's clock. */
const firstTook = (): number => (stage.agent.prompts[1]?.at ?? 0) - (stage.agent.prompts[0]?.at ?? 0);

it('a model that never answers is interrupted, then has a new session, then a person decides', async () => {
  await begin();
  stage.agent.always(/./, hangs);
  expect(await stage.drive()).toBe('waits');
  expect((await stage.state()).cursors.build?.waiting).toMatchObject({ kind: 'blocked' });
  expect(stage.reported('interrupted').map(({ why }) => why)).toEqual(Array(4).fill('idle'));
  expect(reasons()).toEqual(['start', 'no_progress']);
  expect(await stage.events('gates.finished')).toEqual([]);
});

it('a model that answers after it was interrupted keeps its session', async () => {
  await begin();
  stage.agent.on(/./, hangs);
  works();
  await stage.complete();
  expect(firstTook()).toBeGreaterThan(10 * minute);
  expect(reasons()).toEqual(['start']);
});

it('a tool call that hangs has the longer clock, and its processes are ended', async () => {
  await begin();
  stage.agent.on(/./, ({ shell }) => {
    hurry();
    return shell('tail -f a.txt');
  });
  works();
  await stage.complete();
  expect(stage.reported('interrupted')).toMatchObject([{ why: 'idle' }]);
  expect(firstTook()).toBeGreaterThan(60 * minute);
  expect(markedProcesses(`${stage.run}/`)).toEqual([]);
});

it('an agent that ignores the interrupt is replaced', async () => {
  await begin();
  stage.agent.isDeaf = true;
  stage.agent.on(/./, hangs);
  works();
  await stage.complete();
  expect(stage.reported('interrupted')).toHaveLength(1);
  expect(reasons()).toEqual(['start', 'ended']);
});

it('an agent that crashes has a new session', async () => {
  await begin();
  stage.agent.on(/./, crash);
  works();
  await stage.complete();
  expect(reasons()).toEqual(['start', 'ended']);
  expect(await stage.events('gates.finished')).toHaveLength(1);
});

it('an agent that crashes each time goes to a person', async () => {
  await begin();
  stage.agent.always(/./, crash);
  expect(await stage.drive()).toBe('waits');
  expect((await stage.state()).cursors.build?.waiting).toMatchObject({ kind: 'blocked' });
  expect(stage.agent.prompts).toHaveLength(4);
});

it('an agent that continues after its position is done is interrupted', async () => {
  await begin();
  stage.agent.on(/./, async (turn) => {
    turn.write('done.txt');
    await turn.advance('Done.');
    // It goes on with something, so that it is not idle.
    time = setInterval(() => {
      stage.skip(minute);
      turn.onEvent({ type: 'activity' });
    }, 2);
    await turn.hang();
  });
  await stage.complete();
  expect(stage.reported('interrupted')).toMatchObject([{ why: 'done' }]);
});

it('a driver that is stopped ends the turn and its session', async () => {
  await begin();
  const driver = stage.start();
  stage.agent.on(/./, ({ hang }) => {
    driver.stop();
    return hang();
  });
  expect(await driver.ended).toEqual({ end: 'stopped' });
  expect(await stage.events('session.ended')).toHaveLength(1);
  works();
  await stage.complete();
});
