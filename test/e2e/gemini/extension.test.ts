/** Gemini CLI with Stepfast's extension, as a person installs it. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { packageRoot } from '../../../src/cli/index.ts';
import type { Check } from '../../../src/runtime/index.ts';
import { contextOf, lastUser, mainTurn, reply, toolsOf } from '../../../src/testing/index.ts';
import { advance, createGeminiStage, type GeminiStage, own } from '../../kit/gemini.ts';

const workflow = `name: w
description: Plans and builds
agents:
  reviewer: { description: Looks at it, cannot: [write_file] }
steps:
  - { id: plan, type: action, instructions: INSTRUCTIONS-PLAN }
  - { id: build, type: action, agent: reviewer, instructions: INSTRUCTIONS-BUILD }
`;

let stage: GeminiStage;
beforeEach(async () => {
  stage = await createGeminiStage({ '.stepfast/workflows/w.yaml': workflow });
});
afterEach(async () => await stage[Symbol.asyncDispose]());

/** As `stepfast init` does it, from this checkout. */
async function link(): Promise<void> {
  const { stderr, code } = await stage.gemini(
    'extensions',
    'link',
    join(packageRoot(), 'gemini'),
    '--consent',
  );
  expect(code, stderr).toBe(0);
  stage.project.trust('w');
}

const start = own('workflow_start', { workflow: 'w' });
const run = async () => await stage.project.onlyRun();

it('is linked and unlinked by the host, which trusts no folder for it', async () => {
  const isLinked = (): boolean => existsSync(join(stage.home, '.gemini', 'extensions', 'stepfast'));
  const installed = await stage.stepfast('init', '--yes', '--host', 'gemini');
  expect(installed).toMatchObject({ code: 0 });
  expect(isLinked()).toBe(true);
  expect(existsSync(join(stage.home, '.gemini', 'trustedFolders.json'))).toBe(false);
  const again = JSON.parse((await stage.stepfast('init', '--yes', '--json', '--host', 'gemini')).stdout);
  expect(again.written).toEqual([]);
  const checks = await stage.stepfast('doctor', '--json', '--live');
  const { sections }: { sections: { title: string; checks: Check[] }[] } = JSON.parse(checks.stdout);
  expect(sections.flatMap((section) => section.checks)).toContainEqual(
    expect.objectContaining({ what: 'extension', state: 'ok' }),
  );
  expect(sections.find(({ title }) => title === 'Gemini CLI, live')?.checks).toMatchObject([{ state: 'ok' }]);
  const removed = await stage.stepfast('uninstall', '--yes', '--json', '--host', 'gemini');
  expect(JSON.parse(removed.stdout)).toMatchObject({
    hosts: [{ host: 'gemini', commands: ['gemini extensions uninstall stepfast'] }],
  });
  expect(isLinked()).toBe(false);
});

it('starts a run by a typed command, and its tools take it to the end', async () => {
  await link();
  const { model } = stage;
  model.on(lastUser(/w make it 42/), start, advance('Planned.'), advance('Built.'), reply.text('Done.'));
  const { code, stdout } = await stage.prompt('/stepfast:start w make it 42');
  expect({ code, response: JSON.parse(stdout).response }).toEqual({ code: 0, response: 'Done.' });
  const { status, outputs, sessions } = await (await run()).state();
  expect({ status, outputs }).toMatchObject({
    status: 'complete',
    outputs: { plan: { text: 'Planned.' }, build: { text: 'Built.' } },
  });
  expect(Object.values(sessions)).toContainEqual(
    expect.objectContaining({ host: 'gemini', witness: 'hooks', resets: 0 }),
  );
  expect(model.strays()).toEqual([]);
});

it('briefs a session that is resumed or begun anew, once, and counts no compression', async () => {
  await link();
  const { model } = stage;
  model.on(lastUser(/w begin/), start, reply.text('One.'));
  await stage.prompt('/stepfast:start w begin');
  const before = model.all().length;
  model.on(lastUser(/continue/), reply.tool('read_file', { file_path: 'a.txt' }), reply.text('Two.'));
  await stage.prompt('continue', '--resume', 'latest');
  const resumed = model.since(before + 1).requestsOf('main');
  const briefings = resumed.map((each) => contextOf(each).match(/Briefing b-/g)?.length);
  expect(briefings).toEqual([1, 1]);
  expect(contextOf(resumed[0] ?? expect.unreachable())).toContain('INSTRUCTIONS-PLAN');
  const { sessions } = await (await run()).state();
  const mine = Object.values(sessions).filter(({ host }) => host === 'gemini');
  expect(mine).toMatchObject([{ witness: 'hooks', resets: 0 }]);
  model.on(lastUser(/go on/), reply.text('Three.'));
  const [offered] = await (async () => {
    const from = model.all().length + 1;
    await stage.prompt('go on');
    return model.since(from).requestsOf('main');
  })();
  expect(contextOf(offered ?? expect.unreachable())).toContain((await run()).run);
});

it('denies a tool that the agent of the step cannot use', async () => {
  await link();
  const { model, project } = stage;
  const write = reply.tool('write_file', { file_path: 'b.txt', content: 'x' });
  model.on(lastUser(/w begin/), start, advance('Planned.'), write, reply.text('No.'));
  await stage.prompt('/stepfast:start w begin');
  expect(existsSync(join(project.root, 'b.txt'))).toBe(false);
  expect(model.containing('reviewer').length).toBeGreaterThan(0);
});

it('adds nothing but its tools and commands where no run is live', async () => {
  await link();
  const { model } = stage;
  model.on(mainTurn(), reply.tool('read_file', { file_path: 'a.txt' }), reply.text('Yes.'));
  await stage.prompt('what is in a.txt?');
  expect(model.containing('</hook_context>')).toHaveLength(0);
  expect(
    model.requestsOf('main').every((each) => toolsOf(each).includes('mcp_stepfast_workflow_start')),
  ).toBe(true);
  // The host gives server instructions without the warning that is around results.
  expect(contextOf(model.requestsOf('main')[0] ?? expect.unreachable())).toContain('<loaded_context>');
  const hooks = readFileSync(join(import.meta.dirname, '../../../gemini/hooks/hooks.json'), 'utf8');
  expect(JSON.parse(hooks).hooks.PreCompress).toMatchObject([{ matcher: 'manual' }]);
});
