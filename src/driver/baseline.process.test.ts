/** The driver runs gates before the work, where a step asks for it, and compares with them. */
import { afterEach, expect, it } from 'vitest';
import { createScriptedRun, type ScriptedRun } from '../../test/kit/scripted-run.ts';

let stage: ScriptedRun;
afterEach(async () => await stage[Symbol.asyncDispose]());

/** The gate passes while `state.txt` says so. */
const begin = async (state: string, more = ''): Promise<void> => {
  stage = await createScriptedRun(
    `steps:
  - { id: fix, type: action, instructions: INSTRUCTIONS-FIX, ${more} gate: [{ run: grep -q green state.txt, baseline: true }] }
`,
    { 'state.txt': state },
  );
};
const writes = (text: string): void => stage.agent.on(/./, ({ write }) => write('state.txt', text));

it.each([
  ['red', 'fail'],
  ['green', 'pass'],
])('a receipt records that the gate was %s before the first turn', async (state, before) => {
  await begin(state);
  stage.agent.on(/INSTRUCTIONS-FIX/, async ({ write }) => {
    expect(await stage.events('gates.finished')).toMatchObject([{ receipts: [{ role: 'baseline' }] }]);
    write('state.txt', 'green');
  });
  await stage.complete();
  expect((await stage.state()).outputs.fix?.receipts).toMatchObject([{ pass: true, before }]);
});

it('a gate that fails after all attempts waits for a person, and records what was before', async () => {
  await begin('green', 'attempts: 2,');
  writes('red 1');
  writes('red 2');
  expect(await stage.drive()).toBe('waits');
  const { status, cursors } = await stage.state();
  expect({ status, waiting: cursors.fix?.waiting?.kind }).toEqual({ status: 'waiting', waiting: 'blocked' });
  const [, ...after] = await stage.events('gates.finished');
  expect(after.flatMap(({ receipts }) => receipts)).toMatchObject([
    { pass: false, before: 'pass' },
    { pass: false, before: 'pass' },
  ]);
});

it('a step that aborts ends the run', async () => {
  await begin('red', 'on_fail: { retry: 1, then: abort },');
  writes('red 1');
  expect(await stage.drive()).toBe('failed');
  expect(await stage.state()).toMatchObject({ status: 'failed', driver: { released: true } });
});
