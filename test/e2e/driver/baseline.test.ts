/** What a gate said before the work, and after it. */
import { afterEach, expect, it } from 'vitest';
import { lastUser, reply } from '../../../src/testing/index.ts';
import { complete, type DriverStage, stageWith } from '../../kit/driver-run.ts';
import { write } from '../../kit/driver-script.ts';

let stage: DriverStage;
afterEach(async () => await stage[Symbol.asyncDispose]());

/** Green while `state.txt` says so. */
const begin = async (state: string, more = ''): Promise<void> => {
  stage = await stageWith(
    `steps:
  - { id: fix, type: action, instructions: INSTRUCTIONS-FIX, ${more} gate: [{ run: grep -q green state.txt, baseline: true }] }
`,
    { 'state.txt': state },
  );
};

const baseline = async () => (await stage.eventsOf('gates.finished'))[0];
const receiptsAfter = async () =>
  (await stage.eventsOf('gates.finished')).slice(1).flatMap(({ receipts }) => receipts);

it.each([
  ['red', 'fail'],
  ['green', 'pass'],
])('%s, then green: the receipt says what was before, and no turn comes before it', async (state, before) => {
  await begin(state);
  stage.model.on(lastUser(/INSTRUCTIONS-FIX/), write('state.txt', 'green'), reply.text('Fixed.'));
  await complete(stage);
  expect(await baseline()).toMatchObject({ receipts: [{ role: 'baseline' }] });
  expect((await stage.state()).outputs.fix?.receipts).toMatchObject([{ pass: true, before }]);
  const events = await stage.events();
  const at = (type: string): number => events.findIndex((event) => event.type === type);
  expect(at('gates.finished')).toBeLessThan(at('session.started'));
});

it.each([
  ['red', 'fail'],
  ['green', 'pass'],
])('%s, then red: the run waits for a person after its attempts', async (state, before) => {
  await begin(state, 'attempts: 2,');
  stage.model.on(lastUser(/INSTRUCTIONS-FIX/), write('state.txt', 'red 1'), reply.text('Fixed.'));
  stage.model.on(lastUser(/grep -q green/), write('state.txt', 'red 2'), reply.text('Fixed now.'));
  const ended = await stage.drive(['w', '--no-wait']);
  expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 4 });
  const { status, cursors, outputs } = await stage.state();
  expect({ status, outputs, waiting: cursors.fix?.waiting?.kind }).toEqual({
    status: 'waiting',
    outputs: {},
    waiting: 'blocked',
  });
  expect(await receiptsAfter()).toMatchObject([
    { pass: false, before },
    { pass: false, before },
  ]);
});

it('red, then red, ends the run where the step says so', async () => {
  await begin('red', 'on_fail: { retry: 1, then: abort },');
  stage.model.on(lastUser(/INSTRUCTIONS-FIX/), reply.text('Fixed, surely.'));
  expect(await stage.drive(['w', '--no-wait'])).toMatchObject({ code: 1 });
  expect(await stage.state()).toMatchObject({ status: 'failed', driver: { released: true } });
});
