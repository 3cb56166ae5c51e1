/** What a person at the terminal of Codex types and sees. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { contextOf, lastUser, reply } from '../../../src/testing/index.ts';
import { codexHost } from '../../kit/codex.ts';
import type { HostStage } from '../../kit/host-stage.ts';
import { stepfastIn } from '../../kit/stepfast-in.ts';
import { openTerminal, type Terminal } from '../../kit/terminal.ts';

const gate =
  'while [ ! -f ../release ]; do sleep 0.1; done; grep -q 42 total.txt || { echo not ok 1; exit 1; }';
const workflow = `name: w
description: Does it
stop: check
steps:
  - { id: do, type: action, instructions: INSTRUCTIONS-DO, gate: [{ run: ${JSON.stringify(gate)} }] }
`;

let stage: HostStage;
let terminal: Terminal;
afterEach(async () => {
  await terminal.close().catch(() => {});
  await stage.model[Symbol.asyncDispose]();
  stage.project[Symbol.dispose]();
});

async function enter(text: string): Promise<void> {
  await terminal.type(text);
  await terminal.waitFor(new RegExp(text.slice(-12)));
  await terminal.press('Enter');
}

/** A dialog may be drawn before it listens. */
async function pressUntil(key: string, seen: RegExp): Promise<void> {
  for (let left = 20; left > 0; left -= 1) {
    await terminal.press(key);
    const isSeen = await terminal.waitFor(seen, 3_000).then(
      () => true,
      () => false,
    );
    if (isSeen) return;
  }
  await terminal.waitFor(seen, 1_000);
}

it('hooks are trusted once, a task is typed, and a check that ends in the background wakes the idle session', async () => {
  stage = await codexHost.prepare({ '.stepfast/workflows/w.yaml': workflow, 'total.txt': '41\n' });
  const { model, project, env } = stage;
  const config = join(env.CODEX_HOME ?? '', 'config.toml');
  const before = readFileSync(config, 'utf8');
  const installed = await stepfastIn(stage, 'init', '--yes', '--host', 'codex');
  expect(installed, installed.stderr).toMatchObject({ code: 0 });
  project.trust('w');
  const wrong = async (): Promise<string[]> => {
    const { sections } = JSON.parse((await stepfastIn(stage, 'doctor', '--json')).stdout);
    const checks: { what: string; state: string }[] = sections.flatMap(
      (each: { checks: object[] }) => each.checks,
    );
    return checks.filter(({ state }) => state === 'wrong').map(({ what }) => what);
  };
  expect(await wrong()).toEqual(['hooks']);

  model.on(lastUser(/make it 42/), codexHost.shell('echo 43 > total.txt'), reply.text('FIRST-DONE'));
  model.on(
    ({ kind, ...request }) => kind === 'main' && contextOf(request).includes('not ok 1'),
    codexHost.shell('echo 42 > total.txt'),
    reply.text('FIXED-IT'),
  );
  terminal = await openTerminal({
    directory: env.HOME ?? '',
    // A model that Codex does not know, because it advertises others in place of an old one.
    command: ['codex', '--no-daemon', '-m', 'scripted'],
    cwd: project.root,
    env,
    columns: 110,
    rows: 40,
  });
  await terminal.waitFor(/Trust all and continue/);
  await pressUntil('Down', /› 2\. Trust all/);
  await pressUntil('Enter', /OpenAI Codex/);
  await enter('$stepfast start w make it 42');
  await terminal.waitFor(/FIRST-DONE/);
  expect(contextOf(model.requestsOf('main')[0] ?? expect.unreachable())).toContain('INSTRUCTIONS-DO');
  expect(await wrong()).toEqual([]);
  // The person has the prompt back while the gate still runs.
  const { state } = await project.onlyRun();
  await expect.poll(async () => (await state()).cursors.do?.checking, { timeout: 120_000 }).toBeDefined();
  writeFileSync(join(project.root, '..', 'release'), '');
  await terminal.waitFor(/FIXED-IT/, 180_000);
  await expect.poll(async () => (await state()).status, { timeout: 120_000 }).toBe('complete');
  await terminal.close();

  const removed = await stepfastIn(stage, 'uninstall', '--yes', '--host', 'codex');
  expect(removed, removed.stderr).toMatchObject({ code: 0 });
  // Codex itself has added what the person has seen.
  const after = readFileSync(config, 'utf8');
  expect(after.startsWith(before)).toBe(true);
  expect(after).not.toMatch(/stepfast@stepfast|marketplaces/);
}, 600_000);
