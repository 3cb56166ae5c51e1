import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { startTeam, startWire, type Team } from '../../test/kit/server/remote.ts';
import { connect, createProject, eras } from '../../test/mcp/kit.ts';
import { gated } from '../../test/mcp/workflows.ts';
import type { TestProject } from '../testing/index.ts';

const plain = `
name: plain
description: Plan and build
steps:
  - { id: plan, type: action, instructions: Plan it. }
  - { id: build, type: action, instructions: Build it. }
`;

const cleanups: (() => void | PromiseLike<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function served(workflows: Record<string, string>) {
  const team = await startTeam();
  cleanups.push(() => team[Symbol.asyncDispose]());
  const wire = await startWire(team);
  cleanups.push(() => wire[Symbol.asyncDispose]());
  const project = createProject(workflows);
  cleanups.push(project[Symbol.dispose]);
  Object.assign(project.env, { STEPFAST_URL: wire.url, STEPFAST_TOKEN: team.token('agent') });
  return { team, wire, project };
}

const completed = async ({ engine }: Team, run: string) =>
  (await engine.entries(run))
    .flatMap(({ events }) => events)
    .flatMap((event) => (event.type === 'position.completed' ? [event.at.replace(/^.*:/, '')] : []));

async function connected(project: TestProject, era: (typeof eras)[number]) {
  const connection = await connect(project, era);
  cleanups.push(connection.close);
  return connection;
}

it.each(eras)('the tools work on a run of the server, with gates in this tree (%s era)', async (era) => {
  const { team, project } = await served({ gated });
  project.trust('gated');
  const { call } = await connected(project, era);
  const { S } = await call('workflow_start', { workflow: 'gated', summary: 'there' });
  expect(await team.engine.ids()).toEqual([S.run]);
  const report = () => call('workflow_advance', { at: S.at, output: 'made done.txt' });
  let red = await report();
  for (let tries = 0; red.S.checking && tries < 30; tries += 1) red = await report();
  expect(red.S).toMatchObject({ failed_gates: [{ gate: 'done.txt' }] });
  writeFileSync(join(project.root, 'done.txt'), '');
  let green = await call('workflow_advance', { at: red.S.at, output: 'made done.txt now' });
  for (let tries = 0; green.S.checking && tries < 30; tries += 1)
    green = await call('workflow_status', { at: green.S.at });
  expect((await call('workflow_status')).S).toMatchObject({ step: 'slow' });
  // An agent's token is an agent, whatever the checkout is.
  const actors = (await team.engine.entries(S.run)).flatMap(({ actor }) => actor?.kind ?? []);
  expect(new Set(actors)).toEqual(new Set(['agent', 'engine']));
});

it('calls whose answers are lost are done once, and one that cannot be done says so', async () => {
  const { team, wire, project } = await served({ plain });
  const { call } = await connected(project, '2026');
  const lossy = async <T>(act: () => Promise<T>): Promise<T> => {
    const { lost } = wire;
    wire.mode = 'cut';
    const done = act();
    while (wire.lost < lost + 2) await new Promise((resolve) => setTimeout(resolve, 20));
    wire.mode = 'on';
    return await done;
  };
  const { S } = await lossy(() => call('workflow_start', { workflow: 'plain', summary: 'once' }));
  expect(S.run).toBeDefined();
  const noted = await lossy(() => call('workflow_note', { kind: 'decision', text: 'Use steel' }));
  expect(noted.isError).toBe(false);
  const next = await lossy(() => call('workflow_advance', { at: S.at, output: 'planned' }));
  expect(next.isError ? next.text : '').toBe('');
  expect(next.S).not.toHaveProperty('replayed');
  expect(await team.engine.ids()).toEqual([S.run]);
  expect((await team.engine.view(S.run))?.state.notes).toHaveLength(1);
  expect(await completed(team, S.run)).toEqual(['plan#1']);
  wire.mode = 'away';
  const away = await call('workflow_advance', { at: next.S.at, output: 'built' });
  expect(away).toMatchObject({ isError: true, text: expect.stringContaining('server_unreachable') });
  expect(away.text).toContain(wire.url);
});
