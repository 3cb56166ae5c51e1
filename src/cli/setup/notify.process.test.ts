import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LoggedNotification } from '../../runtime/index.ts';
import { logNotification } from '../../runtime/index.ts';
import { createFakeIo } from '../../testing/fake-io.ts';
import { createTestFolder, type TestProject } from '../../testing/index.ts';
import { stateDirectory } from '../../workspace/index.ts';
import { exit } from '../exit.ts';
import { openRuntime } from '../run-options.ts';
import { checkNotifications } from './check-notifications.ts';

const workflow = `name: w
description: Waits
notify: [waiting, ended]
steps:
  - { id: a, type: action, instructions: Do., review: { by: human } }
`;

let project: TestProject;
beforeEach(() => {
  project = createTestFolder({ '.stepfast/workflows/w.yaml': workflow });
});
afterEach(() => project[Symbol.dispose]());

const configure = (text: string): void => {
  mkdirSync(join(project.home, '.config/stepfast'), { recursive: true });
  writeFileSync(join(project.home, '.config/stepfast/config.yaml'), text);
};
const checks = () => {
  const { root: cwd, home, env } = project;
  const { io } = createFakeIo({ cwd, home, env });
  return checkNotifications(openRuntime(io, {}), io);
};
const log = (entry: Partial<LoggedNotification>): void =>
  logNotification(stateDirectory(project), { now: Date.now(), via: 'command', ok: false, ...entry });

test('[L/notify] stepfast notify tries the configuration of the user, and says what fails', async () => {
  expect((await project.run(['notify'])).code).toBe(exit.notFound);
  configure('notify: { command: \'test "$STEPFAST_EVENT" = waiting\' }\n');
  expect(await project.run(['notify'])).toMatchObject({
    code: exit.ok,
    stdout: expect.stringMatching(/command/),
  });
  configure('notify: { command: "echo Broken; exit 4" }\n');
  const { code, stdout } = await project.run(['notify', '--json']);
  expect(code).toBe(exit.no);
  expect(JSON.parse(stdout).delivered).toEqual([
    { via: 'command', ok: false, problem: expect.stringMatching(/4.*Broken/) },
  ]);
  expect(checks()).toMatchObject([{ state: 'wrong', says: expect.stringMatching(/4.*Broken/) }]);
});

test('[L/notify] doctor shows whether notifications are configured, readable and delivered', async () => {
  expect(checks()).toMatchObject([{ state: 'note', says: expect.stringContaining("'w'") }]);
  configure('notify: { bell: yes please }\n');
  expect(checks()).toMatchObject([{ state: 'wrong', next: expect.stringContaining('stepfast notify') }]);
  configure('notify: { bell: true, command: "true" }\n');
  const fine = [{ state: 'ok', says: expect.stringMatching(/bell, command.*stepfast notify/) }];
  expect(checks()).toMatchObject(fine);
  log({ problem: 'exit 1' });
  log({ via: 'webhook', ok: true });
  expect(checks()).toMatchObject([{ state: 'wrong', says: expect.stringMatching(/command.*exit 1/) }]);
  log({ ok: true });
  expect(checks()).toMatchObject(fine);
  project.write({ '.stepfast/workflows/w.yaml': workflow.replace(/notify.*\n/, '') });
  configure('decide: terminal\n');
  expect(checks()).toEqual([]);
});

test('[L/notify] graph and dry-run show what would be told', async () => {
  expect((await project.run(['graph', 'w'])).stdout).toMatch(/waiting, ended/);
  const { stdout } = await project.run(['dry-run', 'w', '--json']);
  const moves: { notifications?: object[] }[] = JSON.parse(stdout).moves;
  expect(moves.flatMap(({ notifications = [] }) => notifications)).toMatchObject([
    { event: 'waiting', kind: 'review', position: 'a' },
    { event: 'ended', kind: 'complete' },
  ]);
  expect((await project.run(['dry-run', 'w'])).stdout).toMatch(/waiting: review[\s\S]*ended: complete/);
});
