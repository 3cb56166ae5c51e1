import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { hookFor, registrations } from '../../src/hosts/claude-code/index.ts';
import { createHolds, type Holds } from '../../src/runtime/index.ts';
import {
  contextOf,
  createScriptedModel,
  createTestProject,
  lastUser,
  reply,
  type ScriptedModel,
  type TestProject,
} from '../../src/testing/index.ts';
import { findProject, stateDirectory } from '../../src/workspace/index.ts';
import { runClaude } from '../kit/claude.ts';

const top = join(import.meta.dirname, '..', '..');
const shim = join(top, 'hooks', 'stepfast-hook.sh');

let project: TestProject;
let home: string;
let model: ScriptedModel;

beforeEach(async () => {
  project = createTestProject({ 'total.txt': '41\n' });
  home = join(project.root, '..', 'claude-home');
  mkdirSync(home);
  model = await createScriptedModel();
});

afterEach(async () => {
  await model[Symbol.asyncDispose]();
  project[Symbol.dispose]();
});

const settings = {
  hooks: {
    Stop: registrations
      .filter(({ event }) => event === 'Stop')
      .map((registration) => ({ hooks: [hookFor(registration, `'${shim}'`)] })),
  },
};

/** As a person's `stepfast hold` leaves it. */
function hold(command: string): Holds {
  const holds = createHolds(findProject(project.root), stateDirectory({ env: {}, home }));
  holds.set(command, Date.now());
  return holds;
}

const run = (prompts: string[]) => runClaude({ cwd: project.root, home, model, settings, prompts });

it('[pain 13] a session that stops red continues with the reason, fixes it and may stop', async () => {
  const holds = hold('echo "the total is $(cat total.txt)"; grep -q 42 total.txt');
  model.on(lastUser(/make it 42/), reply.text('Done, all tests pass.'));
  model.on(
    (request) => /exit.1/.test(contextOf(request)),
    reply.tool('Bash', { command: 'echo 42 > total.txt', description: 'Fix it' }),
    reply.text('Now it is done.'),
  );
  const { requests } = await run(['make it 42']);
  const [first, second, ...rest] = requests.requestsOf('main');
  expect(first && contextOf(first)).not.toContain('stepfast hold');
  expect(second && contextOf(second)).toContain('> the total is 41');
  expect(rest).toHaveLength(1);
  expect(holds.last?.verdict).toBe('green');
});
