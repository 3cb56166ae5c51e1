import { afterEach, beforeEach, expect, test } from 'vitest';
import { createHookKit, type HookKit } from '../../test/kit/hooks.ts';
import { isRefused } from '../runtime/index.ts';

const workflow = `name: w
description: Plans and builds
boundaries: require
agents:
  planner: { description: Plans alone, cannot: [Agent] }
steps:
  - { id: plan, type: action, instructions: Write the plan. }
  - { id: build, type: action, context: clear, instructions: INSTRUCTIONS-BUILD }
  - { id: test, type: action, agent: planner, instructions: Test it. }
`;

let kit: HookKit;
let run: string;
let plan: string;
let build: string;
const who = (session: string) => ({ session, host: 'claude-code', witness: 'hooks' }) as const;
beforeEach(async () => {
  kit = createHookKit({ '.stepfast/workflows/w.yaml': workflow });
  const begun = await kit.runtime.start({ workflow: 'w' }, who('a'));
  run = begun.run ?? '';
  plan = 'at' in begun.reply ? (begun.reply.at ?? '') : '';
  await kit.called('a', { run, at: plan });
  build = (await advance('a', 'Planned.', plan)).at ?? '';
  await kit.called('a', { run, at: build });
});
afterEach(() => kit[Symbol.dispose]());

async function advance(session: string, output: string, at: string): Promise<{ at?: string; code?: string }> {
  const { reply } = await kit.runtime.call({ type: 'advance', output, at }, who(session), { run });
  const told = reply.at === undefined ? {} : { at: reply.at };
  return isRefused(reply) ? { ...told, code: reply.code } : told;
}
const hand = (id: string, prompt: string, type = 'w') =>
  kit.fire('PreToolUse', {
    tool_name: 'Agent',
    tool_use_id: id,
    tool_input: { subagent_type: type, prompt },
    tool_response: {},
  });
/** What the host writes down of the model's message with these calls. */
const inOneMessage = (id: string, ...calls: string[]): void =>
  kit.writeDown({
    type: 'assistant',
    message: { id, content: calls.map((call) => ({ type: 'tool_use', id: call, name: 'Agent' })) },
  });
const begins = async (id: string, type = 'w'): Promise<string> =>
  (await kit.fire('SubagentStart', { agent_id: id, agent_type: type })).context;
const step = async (): Promise<string | undefined> => (await kit.runtime.engine.view(run))?.state.step;

test('[P1/8] a subagent that did nothing does not let its parent go on in the old context', async () => {
  await hand('t1', `Say hi. ${build}`);
  expect(await begins('s1')).toContain('INSTRUCTIONS-BUILD');
  await kit.fire('SubagentStop', { agent_id: 's1', agent_type: 'w' });
  expect(await advance('a', 'Built in the old context.', build)).toMatchObject({ code: 'boundary_open' });
  await hand('t2', `Do ${build}`);
  expect(await begins('s2')).toContain('INSTRUCTIONS-BUILD');
  expect(await advance('a/s2', 'Built.', build)).not.toHaveProperty('code');
  expect(await step()).toBe('test');
});

test('[P4/8] a position goes to the subagent that was handed it, one after the other and by type', async () => {
  await hand('t1', 'Look for typos.', 'typos');
  await hand('t2', `Do ${build}`);
  expect(await begins('s1', 'typos')).toBe('');
  expect(await begins('s2')).toContain('INSTRUCTIONS-BUILD');
  await hand('t3', 'Look for typos.');
  expect(await begins('s3')).toBe('');
});

test.each([
  ['called together', true],
  ['with an unknown order', false],
])(
  '[P4/8] which of two %s has the position is not guessed: the call with the handle tells',
  async (_, known) => {
    if (known) inOneMessage('m1', 't1', 't2');
    await hand('t1', 'Look for typos.');
    await hand('t2', `Do ${build}`);
    expect([await begins('s1'), await begins('s2')]).toEqual(['', '']);
    const { reply } = await kit.runtime.call({ type: 'status', at: build }, who('a/s2'), { run });
    expect(reply).toMatchObject({ instructions: 'INSTRUCTIONS-BUILD' });
    expect(await advance('a', 'Built.', build)).toMatchObject({ code: 'boundary_open' });
  },
);

test('[P4/8] two that are called one after the other and begin late have what each was handed', async () => {
  inOneMessage('m1', 't1');
  await hand('t1', 'Look for typos.');
  inOneMessage('m2', 't2');
  await hand('t2', `Do ${build}`);
  expect(await begins('s1')).toBe('');
  expect(await begins('s2')).toContain('INSTRUCTIONS-BUILD');
});

test('[P4/8] two that are handed the same position are both briefed on it', async () => {
  await hand('t1', `Do the one half of ${build}`);
  await hand('t2', `Do the other half of ${build}`);
  for (const id of ['s1', 's2']) expect(await begins(id)).toContain('INSTRUCTIONS-BUILD');
});

test('[P4/8] a prompt whose subagent never started is dropped with the next prompt of the person', async () => {
  await hand('t1', `Do ${build}`);
  await kit.fire('UserPromptSubmit', { prompt: 'no' });
  expect(await begins('s1')).toBe('');
  await hand('t2', 'Look for typos.');
  await kit.fire('UserPromptSubmit', { prompt: 'again' });
  await hand('t3', `Do ${build}`);
  expect(await begins('s2')).toContain('INSTRUCTIONS-BUILD');
});

test('[P4/8] a subagent in the background that starts after the turn has ended is briefed', async () => {
  await hand('t1', `Do ${build}`);
  await kit.fire('Stop', { stop_hook_active: false });
  expect(await begins('s1')).toContain('INSTRUCTIONS-BUILD');
});

test('[P4/8] a call that is denied hands nothing on', async () => {
  const open = (await kit.runtime.call({ type: 'proceed' }, { actor: { kind: 'person' } }, { run })).reply;
  expect(isRefused(open)).toBe(false);
  const { at = '' } = await advance('a', 'Built.', build);
  await kit.called('a', { run, at });
  expect((await hand('t1', `Do ${at}`)).stdout).toContain('"deny"');
  expect(await begins('s1')).toBe('');
});

test('[P4/8] of several handles in a prompt the one that is open counts', async () => {
  await hand('t1', `${plan} is done. Now do ${build}.`);
  expect(await begins('s1')).toContain('INSTRUCTIONS-BUILD');
});
