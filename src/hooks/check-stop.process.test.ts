import { afterEach, expect, test } from 'vitest';
import { createHookKit, type HookKit } from '../../test/kit/hooks.ts';
import { filesChangedText, runEndedText, stillRedText } from '../messages/index.ts';

let kit: HookKit;
afterEach(() => kit[Symbol.dispose]());

async function begin(gate: string, next = ''): Promise<string> {
  kit = createHookKit({
    '.stepfast/workflows/w.yaml': `name: w
description: Does it
stop: check
steps:
  - { id: do, type: action, instructions: INSTRUCTIONS-DO, gate: [{ run: "${gate}" }] }
${next}`,
  });
  kit.project.trust('w');
  const { run, at } = await kit.start();
  await kit.called('a', { run, at });
  return run;
}

const stop = () => kit.fire('Stop', { last_assistant_message: 'Done.' });
const cursors = async (run: string) => (await kit.runtime.engine.view(run))?.state.cursors;

test('[U20] a fresh context after a green check is offered to a subagent, then asked of the person, also where it is only preferred', async () => {
  const run = await begin(
    'true',
    '  - { id: end, type: action, context: clear, instructions: INSTRUCTIONS-END }',
  );
  expect((await stop()).held).toContain(':end#1');
  const { json, held } = await stop();
  expect(held).toBeUndefined();
  expect(json.systemMessage).toMatch(/end .*\/clear/);
  expect((await cursors(run))?.end?.boundary).toMatchObject({ state: 'requested', policy: 'prefer' });
});

test('gates that keep changing files prove nothing, and the person sees which files at every stop', async () => {
  const run = await begin('date +%s%N > stamp.txt');
  const text = filesChangedText('do', ['stamp.txt']);
  for (const _ of [1, 2]) {
    const { json, held } = await stop();
    expect(held).toBeUndefined();
    expect(json.systemMessage).toContain(text);
  }
  expect((await cursors(run))?.do).toMatchObject({ stops: 0, unstable: ['stamp.txt'] });
});

test('[L/expect] a check that was expected to fail and passes holds the stop with the reason', async () => {
  const run = await begin('echo fine", expect: fail, contains: "Error');
  const { held } = await stop();
  expect(held).toContain('echo fine (expected to fail with "Error")');
  expect(held).toContain('> [expected to fail, but it exited with 0]');
  const gates = [{ what: 'echo fine (expected to fail with "Error")', exit: 0, expect: 'fail' }];
  expect((await cursors(run))?.do?.receipts).toMatchObject(gates);
  for (const _ of [1, 2]) await stop();
  const { json } = await stop();
  expect(json.systemMessage).toContain(stillRedText('do', gates[0] as { what: string }, '/stepfast:cancel'));
});

test('[L/expect] a command that failed as expected is no proof that the run is done', async () => {
  await begin('echo bad; exit 1", expect: "fail');
  const { json, held } = await stop();
  expect(held).toBeUndefined();
  const ended = { workflow: 'w', status: 'complete', checks: [], caught: 0 } as const;
  expect(json.systemMessage).toContain(runEndedText(ended));
});

test('[pain 1] the next end of a turn that was held is checked, also where the transcript does not show the last one yet', async () => {
  await begin('false');
  const again = () =>
    kit.fire('Stop', { last_assistant_message: 'Done.', prompt_id: 'same', stop_hook_active: true });
  for (const _ of [1, 2]) expect((await again()).held).toBeDefined();
});

test('two copies of a stop check once', async () => {
  const run = await begin('false');
  const fired = await Promise.all(
    [1, 2].map(() => kit.fire('Stop', { last_assistant_message: 'Done.', prompt_id: 'same' })),
  );
  expect(fired.filter(({ held }) => held !== undefined)).toHaveLength(1);
  expect((await cursors(run))?.do?.stops).toBe(1);
});
