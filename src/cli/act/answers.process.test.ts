import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { shellVoice } from '../../messages/index.ts';
import { createTestFolder, type TestProject } from '../../testing/index.ts';
import { exit } from '../exit.ts';

const env = { PATH: process.env.PATH };
const withWorkflow = (steps: string, more = ''): TestProject =>
  createTestFolder({ '.stepfast/workflows/w.yaml': `name: w\ndescription: x\nsteps:\n${steps}${more}` });
const two = '  - { id: a, type: action, instructions: x }\n  - { id: b, type: action, instructions: y }\n';

test('an advance says what was done, or is refused', async () => {
  using project = withWorkflow(two);
  await project.run(['start', 'w'], { env });
  expect(await project.run(['advance'], { env })).toMatchObject({ code: exit.usage });
  expect(await project.run(['advance', ' \n'], { env })).toMatchObject({ code: exit.usage });
  expect(await project.run(['advance', '-'], { env, input: [] })).toMatchObject({ code: exit.usage });
});

test('the same words at the next position are no silent success', async () => {
  using project = withWorkflow(two);
  await project.run(['start', 'w'], { env });
  await project.run(['advance', 'done'], { env });
  const { code, stderr } = await project.run(['advance', 'done'], { env });
  expect(code).toBe(exit.no);
  expect(stderr).toMatch(/\ba#1\b[\s\S]*\nnext /);
  const { stdout } = await project.run(['advance', 'done', '--json'], { env });
  expect(JSON.parse(stdout)).toMatchObject({ code: 'repeated', at: expect.stringMatching(/:b#1$/) });
  const command = /stepfast (advance --at \S+)/.exec(stderr)?.[1]?.split(' ') ?? [];
  expect((await project.run([...command, '--output', 'done'], { env })).stdout).toContain('complete');
});

test('[C0] words for a position that another call completed are not kept, and that is said', async () => {
  using project = withWorkflow(two);
  await project.run(['start', 'w'], { env });
  const { stdout } = await project.run(['advance', 'first', '--json'], { env });
  const { at } = JSON.parse(stdout);
  const late = ['advance', '--at', at.replace(':b#', ':a#'), 'second'];
  expect(await project.run(late, { env })).toMatchObject({
    code: exit.no,
    stderr: expect.stringContaining('a#1'),
  });
  const told = await project.run([...late, '--json'], { env });
  expect(JSON.parse(told.stdout)).toMatchObject({ beaten: expect.stringMatching(/:a#1$/), at });
});

test('words for a position that waits are not kept, and that is said', async () => {
  using project = withWorkflow('  - { id: a, type: action, instructions: x, review: { by: human } }\n');
  await project.run(['start', 'w'], { env });
  await project.run(['advance', 'one'], { env });
  const { code, stderr } = await project.run(['advance', 'two'], { env });
  expect(code).toBe(exit.no);
  expect(stderr).toMatch(/^no .*\S+:a#1 [\s\S]*\nnext .*stepfast approve\b/);
  const { stdout } = await project.run(['advance', 'three', '--json'], { env });
  expect(JSON.parse(stdout)).toMatchObject({
    ignored: true,
    status: 'waiting',
    action: { do: 'wait', for: 'review', by: 'person' },
  });
});

test('a start of a workflow with errors tells each error and what helps on lines of their own', async () => {
  using project = withWorkflow('  - { id: a, type: action }\n', 'required_reading: [docs/a.md]\n');
  const { code, stderr } = await project.run(['start', 'w'], { env, columns: 100 });
  expect(code).toBe(exit.no);
  expect(stderr).toMatch(/needs\s+'instructions'\n {6}Say what the agent is to do\.\n {6}\S+w\.yaml:5:20 /);
  expect(stderr).toMatch(/begin\s+with\s+@\n {6}Write "@docs\/a\.md"\nnext /);
});

test('a complete run says how it is proven', async () => {
  using bare = withWorkflow('  - { id: a, type: action, instructions: x }\n');
  await bare.run(['start', 'w'], { env });
  expect((await bare.run(['advance', 'done'], { env })).stdout).toContain(
    'complete, but unverified: no gate',
  );
  using checked = withWorkflow('  - { id: a, type: action, instructions: x, gate: [{ exists: x.txt }] }\n');
  await checked.run(['start', 'w'], { env });
  const red = await checked.run(['advance', 'done'], { env });
  expect(red.stdout.match(/does not exist/g)).toHaveLength(1);
  writeFileSync(join(checked.root, 'x.txt'), '');
  const { stdout } = await checked.run(['advance', 'done'], { env });
  expect(stdout).toContain('✓ x.txt exists');
  expect(stdout).not.toContain('unverified');
});

test('tasks are confirmed, and an approval shows them', async () => {
  using project = withWorkflow(
    '  - { id: plan, type: action, instructions: Plan, review: { by: human } }\n  - { id: build, type: loop }\n',
    'loops:\n  build:\n    - { id: implement, instructions: x }\n',
  );
  await project.run(['start', 'w'], { env });
  const { stdout } = await project.run(['tasks', 'build', 'One', 'Two\u001b[2J'], { env });
  expect(stdout).toMatch(/^✓ 2 tasks for build: One; Two\ufffd\[2J\n/);
  await project.run(['advance', 'planned'], { env });
  const { stderr } = await project.run(['approve'], { env, terminal: true, input: ['no'] });
  expect(stderr).toMatch(/tasks +2 for build\n +task-1 {2}One\n/);
});

const looped = (): TestProject =>
  withWorkflow(
    '  - { id: build, type: loop }\n  - { id: end, type: action, instructions: x }\n',
    'loops:\n  build:\n    - { id: implement, instructions: x }\n',
  );

test('[A7] tasks reports what it did: a started task keeps its title', async () => {
  using project = looped();
  await project.run(['start', 'w'], { env });
  await project.run(['tasks', 'build', 'One', 'Two'], { env });
  const again = ['tasks', 'build', 'Uno', 'Due', 'Tre'];
  const { stdout } = await project.run(again, { env });
  expect(stdout).toMatch(/^✓ 2 tasks for build: Due; Tre\nkept {2}task-1: One/);
  const json = JSON.parse((await project.run([...again, '--json'], { env })).stdout);
  expect(json.kept).toEqual([{ id: 'task-1', title: 'One' }]);
});

test('[A7] tasks that a waiting run does not take are not confirmed', async () => {
  using project = looped();
  await project.run(['start', 'w'], { env });
  await project.run(['ask', 'Which?'], { env });
  const { code, stdout } = await project.run(['tasks', 'build', 'One', '--json'], { env });
  expect(code).toBe(exit.no);
  expect(JSON.parse(stdout)).toMatchObject({ ignored: true, status: 'waiting' });
});

test('[A2] a list that leaves out a task is refused; a person removes it, and the status and the log show it', async () => {
  using project = looped();
  await project.run(['start', 'w'], { env });
  await project.run(['tasks', 'build', 'One', 'Two', 'Three'], { env });
  const refused = await project.run(['tasks', 'build', 'One', '--json'], { env });
  expect(refused.code).toBe(exit.no);
  expect(JSON.parse(refused.stdout)).toMatchObject({
    code: 'task_left_out',
    next: expect.stringContaining('stepfast tasks --drop task-2'),
  });
  const drop = ['tasks', '--drop', 'task-2', '--reason', 'Later'];
  const person = { env, terminal: true };
  expect((await project.run(['tasks', '--drop', 'task-2'], person)).code).toBe(exit.usage);
  expect((await project.run(['tasks', 'build', 'One', ...drop.slice(1)], person)).code).toBe(exit.usage);
  expect((await project.run(drop, { ...person, input: ['n'] })).code).toBe(exit.no);
  expect((await project.run(drop, { ...person, input: ['y'] })).code).toBe(exit.ok);
  const status = await project.run(['status'], person);
  expect(status.stdout).toMatch(/task 1\/2 task-1/);
  expect(status.stdout).toMatch(/removed +task-2 \(Two\): Later/);
  expect((await project.run(['log'], person)).stdout).toMatch(/task-2 removed by .*Later/);
});

test('a missing input is refused with the command to type', async () => {
  using project = withWorkflow(two, 'inputs:\n  request: { type: string, required: true }\n');
  const { stderr } = await project.run(['start', 'w'], { env });
  expect(stderr).toContain(shellVoice().start({ workflow: 'w', name: 'request' }));
});

test('where several runs are live, refusals and next commands name the run', async () => {
  using project = withWorkflow('  - { id: a, type: action, instructions: x, review: { by: human } }\n');
  const { stdout: first } = await project.run(['start', 'w', '--summary', 'one', '--json'], { env });
  await project.run(['start', 'w', '--summary', 'two'], { env });
  const { run, at } = JSON.parse(first);
  const { stdout } = await project.run(['advance', '--at', at, 'done'], { env });
  const name = run.split('-').at(-1);
  expect(stdout).toContain(`stepfast approve --run ${name}`);
  const { stderr } = await project.run(['advance', '--at', at, 'more'], { env });
  expect(stderr.replaceAll(/\s+/g, ' ')).toContain(`stepfast approve --run ${name}`);
  const asPerson = await project.run(['status', '--run', run], { env, terminal: true });
  expect(asPerson.stdout).toContain(`stepfast approve --run ${name}`);
});

test('no words of a workflow or an agent steer the terminal', async () => {
  using project = withWorkflow(two.replace('instructions: x', 'instructions: "x\\e[2J\\n  y\\x9b"'));
  const evil = '\u001b]0;owned\u0007\u202e';
  const outputs = [
    await project.run(['start', 'w', '--summary', `s${evil}`], { env }),
    await project.run(['note', 'decision', `n${evil}`], { env }),
    await project.run(['todo', `t${evil}`], { env }),
    await project.run(['todo'], { env, terminal: true }),
    await project.run(['advance', `o${evil}`], { env }),
    await project.run(['status'], { env }),
    await project.run(['status', '--json'], { env }),
    await project.run(['log'], { env }),
    await project.run(['log', '--json'], { env }),
    await project.run(['runs'], { env }),
    await project.run(['fail', `f${evil}`], { env }),
  ];
  for (const { stdout, stderr } of outputs) expect(stdout + stderr).not.toMatch(/[^\P{Cc}\n]|\u202e/u);
});
