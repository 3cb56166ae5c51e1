import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createHookKit, type HookKit } from '../../test/kit/hooks.ts';
import { createBindings, createHolds } from '../runtime/index.ts';
import { findProject, stateDirectory } from '../workspace/index.ts';

const files = {
  '.stepfast/workflows/w.yaml': `name: w
description: Plans and builds
stop: check
steps:
  - { id: plan, type: action, instructions: INSTRUCTIONS-PLAN, review: { by: human } }
  - { id: build, type: action, instructions: INSTRUCTIONS-BUILD }
`,
  '.stepfast/workflows/risky.yaml': `name: risky
description: Runs a command
steps:
  - { id: do, type: action, instructions: Do it., gate: [{ run: make test }] }
`,
};

let kit: HookKit;
beforeEach(() => {
  kit = createHookKit(files);
  kit.project.env.CLAUDE_CODE_SESSION_ATTENDED = '1';
  kit.project.env.CLAUDE_CONFIG_DIR = join(kit.project.root, '..', 'config');
  mkdirSync(kit.project.env.CLAUDE_CONFIG_DIR);
});
afterEach(() => kit[Symbol.dispose]());

const submit = (prompt: string) => kit.fire('UserPromptSubmit', { prompt });

/** As the host records what a person types. */
async function type(prompt: string, session = 'a') {
  const line = JSON.stringify({ display: prompt, sessionId: session, timestamp: 1 });
  appendFileSync(join(kit.project.env.CLAUDE_CONFIG_DIR ?? '', 'history.jsonl'), `${line}\n`);
  return await kit.fire('UserPromptSubmit', { prompt, session_id: session });
}

const run = async () => (await kit.runtime.engine.runs())[0];
const state = async () => {
  const found = await run();
  if (!found?.state) throw new Error('no run');
  return found.state;
};

async function atReview(): Promise<void> {
  await submit('/stepfast:start w add a page');
  await kit.runtime.call(
    { type: 'advance', output: 'Planned.' },
    { session: 'a' },
    { run: (await run())?.run },
  );
  expect((await state()).status).toBe('waiting');
}

const codeIn = async (): Promise<string> => {
  const { json } = await kit.fire('Stop', { last_assistant_message: 'Planned.' });
  return /approve ([0-9a-f]{4})/.exec(String(json.systemMessage))?.[1] ?? '';
};

test('[U15] a code of something that no longer waits decides nothing, and the current line is shown', async () => {
  await atReview();
  const old = await codeIn();
  await type(`/stepfast:reject ${old} name the files`);
  await kit.runtime.call(
    { type: 'advance', output: 'Planned again.' },
    { session: 'a' },
    { run: (await run())?.run },
  );
  expect((await state()).status).toBe('waiting');
  const { json } = await type(`/stepfast:approve ${old}`);
  expect(json).toMatchObject({ continue: false });
  expect(String(json.stopReason)).toMatch(/approve [0-9a-f]{4}/);
  expect(String(json.stopReason)).not.toContain(old);
  expect((await state()).status).toBe('waiting');
  await type(`/stepfast:approve ${/approve ([0-9a-f]{4})/.exec(String(json.stopReason))?.[1]}`);
  expect((await state()).status).toBe('running');
});

test('[U15] a session that decides for an unfinished run works on it from then on', async () => {
  await atReview();
  await kit.fire('SessionEnd', { reason: 'other' });
  const { json } = await kit.fire('SessionStart', { session_id: 'b', source: 'startup' });
  expect(String(json.systemMessage)).toMatch(/approve [0-9a-f]{4}/);
  await type('/stepfast:approve', 'b');
  expect((await state()).sessions.b).toMatchObject({ witness: 'hooks' });
  expect((await state()).step).toBe('build');
});

test('[U15] with nothing to decide, that is what the person sees', async () => {
  for (const typed of ['/stepfast:approve', '/stepfast:reject because', '/stepfast:done'])
    expect((await type(typed)).json).toMatchObject({ continue: false });
  await submit('/stepfast:start w add a page');
  expect((await type('/stepfast:reject because')).json).toMatchObject({ continue: false });
  expect((await state()).status).toBe('running');
});

test('words after the name of a workflow are its only required input', async () => {
  kit.project.write({
    '.stepfast/workflows/asks.yaml': `name: asks
description: Needs a task
inputs: { task: { type: string, required: true, description: What to do } }
steps:
  - { id: do, type: action, instructions: "Do {input.task}" }
`,
  });
  expect((await submit('/stepfast:start asks')).json.systemMessage).toBeDefined();
  expect((await submit('/stepfast:start asks refuse blank passwords')).context).toContain(
    'Do refuse blank passwords',
  );
});

test('a workflow that is not trusted is shown with the line that trusts it', async () => {
  const { json } = await submit('/stepfast:start risky');
  expect(json).toMatchObject({ continue: false });
  expect(String(json.stopReason)).toMatch(/\/stepfast:trust risky [0-9a-f]{4}/);
});

test('[U15] with decide: terminal nothing that is typed in the session counts, and the notice names the command', async () => {
  await atReview();
  kit.project.env.XDG_CONFIG_HOME = join(kit.project.root, '..', 'user');
  mkdirSync(join(kit.project.env.XDG_CONFIG_HOME, 'stepfast'), { recursive: true });
  appendFileSync(join(kit.project.env.XDG_CONFIG_HOME, 'stepfast', 'config.yaml'), 'decide: terminal\n');
  expect(String((await kit.fire('Stop')).json.systemMessage)).not.toContain('/stepfast:');
  expect((await type('/stepfast:approve')).json).toMatchObject({ continue: false });
  expect((await state()).status).toBe('waiting');
  expect((await type('/stepfast:cancel')).json).toMatchObject({ continue: false });
  expect((await state()).status).toBe('waiting');
});

test('[U15] a start needs no model: the run is there, the session bound and briefed', async () => {
  const { context } = await submit('/stepfast:start w add a page');
  expect(context).toContain('INSTRUCTIONS-PLAN');
  expect(await state()).toMatchObject({ summary: 'add a page', sessions: { a: { witness: 'hooks' } } });
  const again = await submit('/stepfast:start w another page');
  expect(again.json).toMatchObject({ continue: false });
  expect(await kit.runtime.engine.ids()).toHaveLength(1);
});

test('a start that is refused is answered without a turn, a missing input is left to the agent', async () => {
  expect((await submit('/stepfast:start risky')).json).toMatchObject({ continue: false });
  expect((await submit('/stepfast:start nope')).json.stopReason ?? '').toContain('nope');
  expect(await kit.runtime.engine.ids()).toEqual([]);
  expect((await submit('/stepfast:go')).stdout).toBe('');
});

test.each([
  ['unattended', { attended: '0', listed: true }],
  ['scheduled by a model', { attended: '1', listed: false }],
])('[U15] a decision that is %s is not recorded', async (_, { attended, listed }) => {
  await atReview();
  kit.project.env.CLAUDE_CODE_SESSION_ATTENDED = attended;
  for (const name of ['approve', 'reject no', 'answer x', 'done', 'cancel', 'trust risky', 'hold true']) {
    const prompt = `/stepfast:${name}`;
    const { json } = listed ? await type(prompt) : await submit(prompt);
    expect(json).toMatchObject({ continue: false });
  }
  expect(await state()).toMatchObject({ status: 'waiting', step: 'plan' });
});

test('[U15] a line that another session typed does not count', async () => {
  await atReview();
  await type('/stepfast:approve', 'b');
  expect((await submit('/stepfast:approve')).json).toMatchObject({ continue: false });
});

test('[U15] approve by the code that was shown continues with the next position', async () => {
  await atReview();
  const code = await codeIn();
  expect(code).toMatch(/^[0-9a-f]{4}$/);
  const { context } = await type(`/stepfast:approve ${code}`);
  expect(context).toContain('INSTRUCTIONS-BUILD');
  expect(await state()).toMatchObject({ status: 'running', step: 'build' });
  const kept = await createBindings(kit.runtime.project.directory).get({ host: 'claude-code', session: 'a' });
  expect(kept?.at).toBeDefined();
});

test('[U15] reject needs a reason, and the agent gets it', async () => {
  await atReview();
  expect((await type('/stepfast:reject')).json).toMatchObject({ continue: false });
  const { context } = await type('/stepfast:reject name the columns');
  expect(context).toContain('INSTRUCTIONS-PLAN');
  expect((await state()).cursors.plan?.feedback).toContain('name the columns');
});

test('[U15] answer, done and cancel', async () => {
  await submit('/stepfast:start w add a page');
  await kit.runtime.call({ type: 'ask', text: 'Which page?' }, { session: 'a' });
  await type('/stepfast:answer the profile');
  expect((await state()).questions).toMatchObject([{ answer: 'the profile' }]);
  await type('/stepfast:done I wrote the plan');
  expect(await state()).toMatchObject({ status: 'waiting', step: 'plan' });
  expect((await type('/stepfast:cancel not needed')).json).toMatchObject({ continue: false });
  expect((await kit.runtime.engine.runs())[0]?.state).toMatchObject({
    status: 'cancelled',
    reason: 'not needed',
  });
  // The person has seen it.
  expect((await kit.fire('Stop')).stdout).toBe('');
});

test('trust shows the commands with a code, and allows with that code only', async () => {
  const definition = kit.runtime.resolve('risky').definition;
  const { json } = await type('/stepfast:trust risky');
  expect(json.stopReason).toContain('make test');
  const [, code = ''] = /trust risky ([0-9a-f]{4})/.exec(String(json.stopReason)) ?? [];
  await type('/stepfast:trust risky ffff0');
  expect(kit.runtime.trust.has(definition)).toBe(false);
  await type(`/stepfast:trust risky ${code}`);
  expect(kit.runtime.trust.has(definition)).toBe(true);
});

test('A9: when trust is typed again, what changed is shown', async () => {
  const file = '.stepfast/workflows/risky.yaml';
  kit.runtime.trust.give(kit.runtime.resolve('risky').definition, { now: 1, by: 'person' });
  const text = readFileSync(join(kit.project.root, file), 'utf8');
  kit.project.write({ [file]: text.replace('make test', 'make all') });
  const { json } = await type('/stepfast:trust risky');
  const shown = String(json.stopReason);
  expect(shown).toContain('make all');
  // Only as what is gone.
  expect(shown.split('make test')).toHaveLength(2);
});

test('hold is set and removed, and no command removes nothing', async () => {
  const { env, root } = kit.project;
  const holds = createHolds(findProject(root), stateDirectory({ env, home: env.HOME ?? '' }));
  await type('/stepfast:hold npm test');
  expect(holds.get(Date.now())?.command).toBe('npm test');
  await type('/stepfast:hold');
  expect(holds.get(Date.now())).toBeDefined();
  await type('/stepfast:hold off');
  expect(holds.get(Date.now())).toBeUndefined();
});

test('an answer without a turn leaves the session idle, so that a check may wake it', async () => {
  await submit('/stepfast:start w add a page');
  await kit.fire('Stop', { last_assistant_message: 'Planned.' });
  await type('/stepfast:trust risky');
  expect(kit.log().some(({ what }) => what === 'error')).toBe(false);
  const turn = kit.filesOf('a').includes('turn');
  expect(turn).toBe(false);
});
