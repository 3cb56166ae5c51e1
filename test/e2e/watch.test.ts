/** `stepfast watch` in a real terminal, and in a pipe. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import type { RunSummary } from '../../src/runtime/index.ts';
import { createTestProject } from '../../src/testing/index.ts';
import { openTerminal } from '../kit/terminal.ts';

const cli = join(import.meta.dirname, '..', '..', 'dist', 'cli.js');
/** Looks like a token of a forge; it is none. */
const secret = `ghp_${'a1B2c3D4'.repeat(5).slice(0, 36)}`;
const hasTmux = spawnSync('tmux', ['-V']).status === 0;
const files = {
  '.stepfast/workflows/w.yaml': `name: w
description: x
steps:
  - { id: plan, type: action, title: Plan, instructions: Plan it., review: { by: human } }
  - { id: build, type: action, title: Build, instructions: Build it. }
`,
};

function createStage() {
  const project = createTestProject(files);
  const runtime = project.runtime();
  const env = { PATH: process.env.PATH ?? '', HOME: project.root, LANG: 'C.UTF-8' };
  const start = async (summary: string) => {
    const { reply, run = '' } = await runtime.start({ workflow: 'w', summary }, { session: summary });
    return { run, session: summary, at: 'at' in reply ? reply.at : undefined };
  };
  return { project, runtime, env, start };
}

it.skipIf(!hasTmux)('watch shows every run and what needs the person, also after a resize', async () => {
  const { project, runtime, env, start } = createStage();
  using _ = project;
  const first = await start('Dark mode');
  const terminal = await openTerminal({
    ...{ directory: join(project.root, '..'), cwd: project.root, env, columns: 100, rows: 20 },
    command: [process.execPath, cli, 'watch'],
  });
  try {
    await terminal.waitFor(/1 run · nothing needs you\n\n● Dark mode +\w{8} +Plan +1\/2/);
    const second = await start('Light mode');
    await terminal.waitFor(/2 runs/);
    await runtime.call({ type: 'advance', output: 'Three colors', at: first.at }, first, { run: first.run });
    await terminal.waitFor(/◆ Review Plan .*Three colors\n .* approve --run \w{8}\n/);
    await terminal.resize({ columns: 44, rows: 20 });
    await terminal.waitFor(/◆ Dark mode .*\n +Plan waits for your review\n● Light mode .*\n +Plan/);
    expect((await terminal.screen()).match(/2 runs/g)).toHaveLength(1);
    const by = { actor: { kind: 'person' as const } };
    await runtime.call({ type: 'review', verdict: 'approve', at: first.at }, by, { run: first.run });
    await runtime.call({ type: 'cancel', reason: 'Not wanted' }, by, { run: second.run });
    await terminal.waitFor(/nothing needs you\n\n● Dark mode .*\n +Build\n○ Light mode .*\n +cancelled: Not/);
    await terminal.press('C-c');
  } finally {
    await terminal.close();
  }
});

it('in a pipe each change is a line, and the end of the named runs is the end', async () => {
  const { project, runtime, env, start } = createStage();
  using _ = project;
  const { run, at, session } = await start('Dark mode');
  const child = spawn(process.execPath, [cli, 'watch', run, '--json'], { cwd: project.root, env });
  const said: RunSummary[] = [];
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => said.push(JSON.parse(line) as RunSummary));
  const ended = once(child, 'exit');
  await once(lines, 'line');
  const output = `Three colors ${secret}`;
  await runtime.call({ type: 'advance', output, at }, { session }, { run });
  await once(lines, 'line');
  await runtime.call({ type: 'cancel', reason: 'x' }, { actor: { kind: 'person' } }, { run });
  expect(await ended).toEqual([0, null]);
  expect(JSON.stringify(said)).not.toContain(secret);
  expect(said.map(({ tone, needs }) => [tone, needs.map(({ kind }) => kind)])).toEqual([
    ['working', []],
    ['person', ['review']],
    ['cancelled', []],
  ]);
});
