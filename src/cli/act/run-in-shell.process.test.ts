import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { shellVoice } from '../../messages/index.ts';
import { createTestFolder, type TestProject } from '../../testing/index.ts';
import { exit } from '../exit.ts';

const workflow = `name: feat
description: Plan and build
inputs:
  issue: { type: number }
steps:
  - { id: plan, type: action, instructions: 'Plan issue {input.issue}', gate: [{ exists: PLAN.md }], review: { by: human } }
  - { id: build, type: loop }
loops:
  build:
    - { id: implement, instructions: 'Implement {task.title}' }
`;

const withFeature = (): TestProject => createTestFolder({ '.stepfast/workflows/feat.yaml': workflow });
const env = { PATH: process.env.PATH };

async function json(
  project: TestProject,
  ...argv: string[]
): Promise<{ code: number; reply: Record<string, unknown> }> {
  const { code, stdout } = await project.run([...argv, '--json'], { env });
  return { code, reply: JSON.parse(stdout) };
}

test('a run goes from its start to its end in a shell', async () => {
  using project = withFeature();
  const start = await json(project, 'start', 'feat', '--summary', 'Dark mode', '--input', 'issue=7');
  expect(start).toMatchObject({ code: exit.ok, reply: { step: 'plan', instructions: 'Plan issue 7' } });
  const red = await json(project, 'advance', '--output', '- planned');
  expect(red).toMatchObject({ code: exit.no, reply: { failed_gates: [{ what: 'PLAN.md' }] } });
  // A red gate is a no to the advance, not to what is said after it.
  expect((await json(project, 'start', '--run', String(red.reply.run))).code).toBe(exit.ok);
  writeFileSync(join(project.root, 'PLAN.md'), 'x');
  expect(await json(project, 'advance', 'planned')).toMatchObject({
    code: exit.ok,
    reply: { status: 'waiting', waiting: { for: 'review', by: 'human' } },
  });
  const approved = await project.run(['approve'], { env, terminal: true, input: ['y'] });
  expect(approved.code).toBe(exit.ok);
  expect(approved.stderr).toContain('✓ PLAN.md exists');
  expect(approved.stderr).toContain('planned');
  const tasks = await json(project, 'tasks', 'build', 'One', 'Two');
  expect(tasks.reply).toMatchObject({ task: { id: 'task-1', title: 'One', total: 2 } });
  await json(project, 'advance', 'did one');
  const end = await json(project, 'advance', 'did two');
  expect(end).toMatchObject({ code: exit.ok, reply: { status: 'complete' } });
});

test('[L/enum] [L/pattern] a start names the values that an input takes', async () => {
  using project = createTestFolder({
    '.stepfast/workflows/up.yaml': `name: up
description: Upgrade
inputs:
  level: { type: number, enum: [1, 2] }
  branch: { pattern: '[a-z-]+', required: true }
steps: [{ id: a, type: action, instructions: 'On {input.branch}' }]
`,
  });
  const start = (...inputs: string[]) =>
    json(project, 'start', 'up', ...inputs.flatMap((each) => ['-i', each]));
  const listed = await start('level=3', 'branch=x');
  expect(listed).toMatchObject({ code: exit.no, reply: { code: 'bad_input' } });
  expect(listed.reply.message).toMatch(/1, ?2/);
  const formed = await start('level=2', 'branch=X');
  expect(formed).toMatchObject({ code: exit.no, reply: { code: 'bad_input' } });
  expect(formed.reply.message).toContain('[a-z-]+');
  expect((await project.run(['dry-run', 'up'], { env })).code).not.toBe(exit.ok);
  expect((await project.run(['dry-run', 'up', '--input', 'branch=main'], { env })).code).toBe(exit.ok);
  expect(await start('level=2', 'branch=main')).toMatchObject({
    code: exit.ok,
    reply: { instructions: 'On main' },
  });
});

test('a checklist sets the tasks of a loop, and skipped items are reported', async () => {
  using project = withFeature();
  writeFileSync(join(project.root, 'tasks.md'), '- [x] 1.1 Old\n- [ ] 1.2 New\n');
  await json(project, 'start', 'feat');
  const { code, stderr } = await project.run(['tasks', 'build', '--from', 'tasks.md'], { env });
  expect({ code, stderr }).toEqual({ code: exit.ok, stderr: 'Skipped 1 ticked task: 1.1 Old\n' });
  const none = await project.run(['tasks', 'build', '--from', '.stepfast/workflows/feat.yaml'], { env });
  expect(none.code).toBe(exit.usage);
});

test('notes and the to-do list are kept and shown', async () => {
  using project = withFeature();
  await json(project, 'start', 'feat');
  expect((await project.run(['todo', '- [ ] milk'], { env })).code).toBe(exit.ok);
  expect((await project.run(['todo'], { env })).stdout).toBe('- [ ] milk\n');
  expect((await json(project, 'note', 'decision', 'Dates are UTC', '--key', 'dates')).code).toBe(exit.ok);
  expect((await json(project, 'note', 'decision', 'x'.repeat(401))).reply).toMatchObject({
    code: 'bad_note',
  });
});

test('an unknown workflow is not found, an unknown run neither', async () => {
  using project = withFeature();
  expect((await json(project, 'start', 'faet')).code).toBe(exit.notFound);
  expect((await json(project, 'status', 'k3f9x2ab')).code).toBe(exit.notFound);
});

test('the output may come in or stand in a file', async () => {
  using project = withFeature();
  await json(project, 'start', 'feat');
  writeFileSync(join(project.root, 'PLAN.md'), 'x');
  await project.run(['advance', '-'], { env, input: ['from', 'stdin'] });
  const waiting = await project.run(['log', '--json'], { env });
  expect(waiting.stdout).toContain('from\\nstdin');
  const missing = await project.run(['advance', '--output-file', 'nope.txt'], { env });
  expect(missing.code).toBe(exit.notFound);
});

test('several live runs are listed, and a call asks which is meant', async () => {
  using project = withFeature();
  await json(project, 'start', 'feat', '--summary', 'One');
  await json(project, 'start', 'feat', '--summary', 'Two');
  const { stdout, code } = await project.run(['status'], { env });
  expect(code).toBe(exit.ok);
  expect(stdout).toMatch(/feat-\d+-\w+ +feat +plan +just now +Two\n.*One\n/);
  const { reply } = await json(project, 'fail', 'no');
  const runs = [expect.stringMatching(/: Two$/), expect.stringMatching(/: One$/)];
  expect(reply).toMatchObject({ code: 'several_runs', runs });
  const ids = [reply.runs].flat().map((each) => String(each).split(':')[0] ?? '');
  expect(reply.next).toBe(shellVoice().chooseRun(ids));
});

test('starting again with the same arguments resumes the run', async () => {
  using project = withFeature();
  const first = await json(project, 'start', 'feat', '--summary', 'One');
  const { stderr, stdout } = await project.run(['start', 'feat', '--summary', ' One ', '--json'], { env });
  expect(JSON.parse(stdout).run).toBe(first.reply.run);
  expect(stderr).toContain('Resumed feat-');
  const other = await json(project, 'start', 'feat', '--summary', 'Two');
  expect(other.reply.run).not.toBe(first.reply.run);
});

test('what a person reads changes nothing', async () => {
  using project = createTestFolder({
    '.stepfast/workflows/w.yaml':
      'name: w\ndescription: x\nsteps:\n  - { id: a, type: action, context: clear, instructions: Do it }\n',
  });
  const start = await json(project, 'start', 'w');
  const journal = (): string =>
    readFileSync(join(project.root, '.stepfast/runs', String(start.reply.run), 'journal.jsonl'), 'utf8');
  const before = journal();
  expect((await project.run(['status'], { env, terminal: true })).code).toBe(exit.ok);
  expect(journal()).toBe(before);
  await project.run(['status'], { env });
  expect(journal()).not.toBe(before);
});
