import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestProject, type TestProject } from '../../testing/index.ts';

const workflow = `name: w
description: Cleans up
inputs: { name: { default: box } }
steps:
  - { id: build, type: action, instructions: Build., gate: [{ exists: README.md }] }
finally:
  - { id: stop, run: 'echo "$STEPFAST_STATUS $STEPFAST_INPUT_NAME $(cat "$STEPFAST_OUTPUTS")" >> ../ended.txt' }
  - { id: bad, run: 'echo cannot; exit 3' }
  - { id: last, run: 'echo last >> ../ended.txt' }
`;

let project: TestProject;
beforeEach(() => {
  project = createTestProject({ 'README.md': '', '.stepfast/workflows/w.yaml': workflow });
});
afterEach(() => project[Symbol.dispose]());

const lines = () => {
  const file = join(project.root, '../ended.txt');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
};
const done = async () => {
  const { cleanup } = await (await project.onlyRun()).state();
  return (cleanup?.done ?? []).map(({ step, pass, exit }) => [step, pass, exit]);
};
const expected = [
  ['stop', true, 0],
  ['bad', false, 3],
  ['last', true, 0],
];

test('[L/finally] after the end, each command runs once, whatever the others do, and the run stays as it ended', async () => {
  project.trust('w');
  await project.run(['start', 'w']);
  expect(lines()).toEqual([]);
  await project.run(['advance', 'It is built.']);
  await expect.poll(done).toEqual(expected);
  await project.run(['status']);
  expect(lines()).toEqual(['complete box {"build":"It is built."}', 'last']);
  const run = await project.onlyRun();
  expect(await run.state()).toMatchObject({ status: 'complete' });
  expect(await run.events('cleanup.started')).toHaveLength(1);
});

test('[L/finally] a cancelled run is cleaned up too, and one that is taken up again once more', async () => {
  project.trust('w');
  await project.run(['start', 'w']);
  await project.run(['advance', 'It is built.']);
  await expect.poll(done).toEqual(expected);
  const person = { terminal: true, input: ['y'] };
  const { run } = await project.onlyRun();
  await project.run(['rewind', 'build', '--run', run], person);
  await project.run(['cancel', 'enough', '--run', run, '--yes'], person);
  await expect.poll(lines).toHaveLength(4);
  expect(lines()[2]).toMatch(/^cancelled box/);
});

test('[L/finally] its commands are part of what is trusted', async () => {
  project.write({
    '.stepfast/workflows/only.yaml':
      'name: only\ndescription: d\nsteps: [{ id: a, type: action, instructions: A }]\nfinally: [{ id: x, run: touch ../x }]\n',
  });
  const { stdout } = await project.run(['start', 'only', '--json']);
  expect(JSON.parse(stdout).code).toBe('untrusted');
});
