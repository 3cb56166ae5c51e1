import { expect, test } from 'vitest';
import { refusalText, shellVoice } from '../../messages/index.ts';
import { createTestFolder, type TestProject } from '../../testing/index.ts';
import { exit } from '../exit.ts';

const env = { PATH: process.env.PATH };
const files = {
  '.stepfast/workflows/w.yaml':
    'name: w\ndescription: x\nsteps:\n  - { id: a, type: action, instructions: x, gate: [{ exists: w.txt }] }\n  - { id: b, type: action, instructions: y }\n',
  'w.txt': '',
};

async function worked(): Promise<TestProject> {
  const project = createTestFolder(files);
  await project.run(['start', 'w', '--summary', 'Told'], { env });
  await project.run(['advance', 'made it'], { env });
  await project.run(['ask', 'Which colour?'], { env: { ...env, STEPFAST_SESSION: 's1' } });
  await project.run(['answer', 'blue'], { env, terminal: true, input: ['y'] });
  await project.run(['advance', 'said so'], { env });
  return project;
}

test('the log shows actor, time and event, and marks unverified claims', async () => {
  using project = await worked();
  const { code, stdout } = await project.run(['log'], { env });
  expect(code).toBe(exit.ok);
  const told = stdout.replaceAll(/^.{10} +|^\d\d:\d\d:\d\d {2}/gm, '');
  expect(stdout).toMatch(/^\d{4}-\d\d-\d\d\n\d\d:\d\d:\d\d {2}agent +started w {2}Told\n/);
  expect(stdout).toMatch(/stepfast +✓ w\.txt\n +✓ a#1 {2}made it\n/);
  expect(stdout).toMatch(/agent s1 +session s1 joined\n +◆ q1 {2}Which colour\?\n/);
  expect(stdout).toMatch(/answer to q1 {2}blue/);
  expect(told).toContain('✓ b#1  unverified  said so');
  expect(stdout.trimEnd()).toMatch(/✓ run complete$/);

  // An ended run is still listed.
  const status = await project.run(['status'], { env });
  expect(status.code).toBe(exit.no);
  const none = refusalText({ code: 'no_run', params: { why: 'none_live' } }, shellVoice());
  expect(status.stderr.split('\n')[0]).toBe(none.message);
  expect(status.stderr).toMatch(/\nLast run: w-\d+-\w+, complete, just now\.\n/);
  expect((await project.run(['runs'], { env })).stderr).toContain('1 ended run');
  expect((await project.run(['runs', '--all'], { env })).stdout).toMatch(/w +complete +just now +Told/);
});

test('[U19] the log shortens the id of a session', async () => {
  using project = createTestFolder(files);
  const session = '0f3e1c2a-7b1d-4c55-9a51-1d2c3b4a5f60';
  await project.run(['start', 'w'], { env: { ...env, STEPFAST_SESSION: session } });
  await project.run(['ask', 'Which colour?'], { env: { ...env, STEPFAST_SESSION: session } });
  const { stdout } = await project.run(['log'], { env });
  expect(stdout).toContain('0f3e1c2a');
  expect(stdout).not.toContain('7b1d');
});
