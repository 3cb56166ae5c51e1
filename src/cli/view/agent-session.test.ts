import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { actionSamples } from '../../../test/kit/message-samples.ts';
import { type AgentSession, nextForPerson } from '../../messages/index.ts';
import { createBindings } from '../../runtime/index.ts';
import { createFakeIo } from '../../testing/fake-io.ts';
import { createTestFolder, type TestProject } from '../../testing/index.ts';
import { findProject, stateDirectory } from '../../workspace/index.ts';
import { openRuntime } from '../run-options.ts';
import { pluginLink } from '../setup/copy-plugin.ts';

const workflow = 'name: w\ndescription: x\nsteps:\n  - { id: a, type: action, instructions: x }\n';
const files = { '.stepfast/workflows/w.yaml': workflow, 'bin/claude': '#!/bin/sh\n' };

const said = (agent: AgentSession): string =>
  nextForPerson({ do: 'work', at: 'k3f9x2ab:a#1', step: 'a', finish: 'advance' }, undefined, agent).say;

test.each([[['go', 'fix it']], [['start', 'w']]])(
  '[U12] stepfast %j tells a person to open an agent, not that one is at work',
  async (command) => {
    using project = createTestFolder(files);
    for (const argv of [command, ['status']]) {
      const { code, stdout } = await project.run(argv, { env: {}, terminal: true });
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining(said({ open: false })) });
    }
  },
);

test('[U12] it names the host that was set up and is on the PATH', async () => {
  using project = createTestFolder(files);
  chmodSync(join(project.root, 'bin/claude'), 0o755);
  const env = { PATH: join(project.root, 'bin') };
  const start = async (summary: string): Promise<string> =>
    (await project.run(['start', 'w', '-s', summary], { env, terminal: true })).stdout;
  expect(await start('one')).toContain(said({ open: false }));
  mkdirSync(pluginLink(stateDirectory({ env, home: project.home })), { recursive: true });
  expect(await start('two')).toContain(said({ open: false, program: 'claude' }));
});

/** A run that an agent's session has started. */
async function startedBySession(project: TestProject): Promise<string> {
  const { io } = createFakeIo({ cwd: project.root, home: project.home });
  const { engine, start } = openRuntime(io, {});
  const { run = '' } = await start({ workflow: 'w' }, { session: 'host-1', witness: 'hooks' });
  const event = { type: 'started', host: 'claude-code', witness: 'hooks' } as const;
  await engine.execute(run, { type: 'session', event, session: 'host-1', now: 1 });
  return run;
}

test('[U12] a session that works on the run is not opened again', async () => {
  using project = createTestFolder(files);
  await startedBySession(project);
  const { stdout } = await project.run(['status'], { env: {}, terminal: true });
  expect(stdout).toContain(said({ open: true }));
});

test('[U9] at a boundary a person reads what to type, without handles and what the agent is told', async () => {
  using project = createTestFolder({
    '.stepfast/workflows/w.yaml': workflow.replace('id: a', 'id: a, context: compact'),
  });
  const run = await startedBySession(project);
  const found = findProject(project.root);
  const binding = { host: 'claude-code', session: 'host-1', run, cwd: '{foundroot}' };
  await createBindings(found.directory).put({ ...binding, boundAt: Date.now(), seenAt: Date.now() });
  const { stdout } = await project.run(['status'], { env: {}, terminal: true });
  const next = nextForPerson(
    { do: 'reset_context', at: '', context: 'compact', required: false },
    undefined,
    { open: true, host: 'Claude Code' },
  );
  expect(next.commands).toEqual([]);
  expect(stdout.trimEnd().endsWith(next.say)).toBe(true);
  expect(stdout).not.toMatch(/[a-z0-9]{8}:a#1|subagent|workflow_/);
});

test('[U9] no next action of a person has a handle', () => {
  for (const action of actionSamples)
    for (const agent of [{ open: true }, { open: false }])
      expect(nextForPerson(action, undefined, agent).commands.join()).not.toMatch(/k3f9x2ab:/);
});
