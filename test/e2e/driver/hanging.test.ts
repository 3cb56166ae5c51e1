/** `stepfast run` with a real host and agents that hang, crash or do not stop. */
import { afterEach, expect, it } from 'vitest';
import { type Answer, mainTurn, type Reply, reply, toolCall } from '../../../src/testing/index.ts';
import { endProcesses, markedProcesses } from '../../../src/workspace/index.ts';
import { drivenHost } from '../../kit/driven-host.ts';
import type { DriverStage } from '../../kit/driver-run.ts';
import { shell } from '../../kit/driver-script.ts';
import { createHostileStage, eventsOf, reportsOf, waitsAt } from '../../kit/hostile-driver.ts';

let stage: DriverStage;
afterEach(async () => await stage[Symbol.asyncDispose]());

const pending = 4;
const build =
  '{ id: build, type: action, instructions: INSTRUCTIONS-BUILD, gate: [{ run: test -f done.txt }] }';
const neverMs = 600_000;

it('a model that never answers: interrupted, then a new session, then a person', async () => {
  stage = await createHostileStage([build]);
  stage.model.always(mainTurn(), reply.text('Too late.', { delayMs: neverMs }));
  const { code } = await stage.drive(['w', '--no-wait'], { idleMs: 6_000, graceMs: 5_000 });
  expect(code).toBe(pending);
  expect(await waitsAt(stage)).toBe('build: blocked');
  expect((await reportsOf(stage, 'interrupted')).map(({ why }) => why)).toEqual(Array(4).fill('idle'));
  expect((await reportsOf(stage, 'session')).map(({ why }) => why)).toEqual(['start', 'no_progress']);
  expect(await eventsOf(stage, 'position.failed')).toEqual([]);
});

it('a model that answers after it was interrupted: the run goes on', async () => {
  stage = await createHostileStage([build]);
  stage.model.on(mainTurn(), reply.text('Too late.', { delayMs: neverMs }));
  stage.model.on(mainTurn(), shell('touch done.txt'), reply.text('Done.'));
  const { code } = await stage.drive(['w', '--no-wait'], { idleMs: 8_000, graceMs: 5_000 });
  expect(code).toBe(0);
  expect(await reportsOf(stage, 'interrupted')).toMatchObject([{ why: 'idle' }]);
});

it('a tool call that hangs has the longer clock, and is ended with its processes', async () => {
  stage = await createHostileStage([build]);
  stage.model.on(mainTurn(), shell('tail -f a.txt'));
  stage.model.on(mainTurn(), shell('touch done.txt'), reply.text('Done.'));
  const { code } = await stage.drive(['w', '--no-wait'], {
    idleMs: 6_000,
    idleInToolMs: 12_000,
    graceMs: 5_000,
  });
  expect(code).toBe(0);
  expect(await reportsOf(stage, 'interrupted')).toMatchObject([{ why: 'idle' }]);
  const [interrupted] = await reportsOf(stage, 'interrupted');
  const [call] = (await reportsOf(stage, 'tool')).filter(({ detail }) => detail === 'tail -f a.txt');
  const timeOf = (each: object | undefined): number => (each as { time: number }).time;
  expect(timeOf(interrupted) - timeOf(call)).toBeGreaterThanOrEqual(12_000);
});

/** By the agent or, where the host refuses that, from outside. */
const crash = (command: string): Answer =>
  drivenHost().protectsItself
    ? async () => {
        await endProcesses(markedProcesses(`${(await stage.run())?.run}/`), 0);
        return reply.text('Too late.');
      }
    : shell(command);

it('an agent that kills its own program: a new session goes on', async () => {
  stage = await createHostileStage([build]);
  // The tool's shell is a child of the host, in a process group of its own or not.
  stage.model.on(mainTurn(), crash('kill -9 $PPID; sleep 1; kill -9 $(ps -o ppid= -p $PPID)'));
  stage.model.on(mainTurn(), shell('touch done.txt'), reply.text('Done.'));
  const { code } = await stage.drive(['w', '--no-wait']);
  expect(code).toBe(0);
  expect((await reportsOf(stage, 'session')).map(({ why }) => why)).toEqual(['start', 'ended']);
  expect(await eventsOf(stage, 'position.completed')).toHaveLength(1);
  expect((await stage.run())?.state.status).toBe('complete');
});

it('an agent that kills its program each time: a person decides', async () => {
  stage = await createHostileStage([build]);
  stage.model.always(mainTurn(), crash('kill -9 $PPID'));
  const { code } = await stage.drive(['w', '--no-wait']);
  expect(code).toBe(pending);
  expect(await waitsAt(stage)).toBe('build: blocked');
  expect(stage.model.requestsOf('main').length).toBeLessThanOrEqual(4);
});

it('an agent that goes on after the position is done: the turn is ended', async () => {
  stage = await createHostileStage([build]);
  stage.model.on(mainTurn(), shell('touch done.txt'), toolCall.advance('Done.'));
  let turns = 0;
  stage.model.always(mainTurn(), (): Reply => {
    turns += 1;
    return shell(`echo ${turns}; sleep 1`);
  });
  const { code } = await stage.drive(['w', '--no-wait'], { graceMs: 3_000 });
  expect(code).toBe(0);
  expect(await reportsOf(stage, 'interrupted')).toMatchObject([{ why: 'done' }]);
  expect((await stage.run())?.state.status).toBe('complete');
  expect(turns).toBeGreaterThan(0);
});
