import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTestProject } from '../../testing/index.ts';
import { exit } from '../exit.ts';

const files = {
  '.stepfast/workflows/tdd.yaml': `name: tdd
description: A failing test first
steps:
  - id: reproduce
    type: action
    instructions: Write a failing test.
    gate: [{ run: sh test.sh, expect: fail, contains: AssertionError }]
  - { id: fix, type: action, instructions: Fix it., gate: [{ run: sh test.sh }] }
`,
  'test.sh': 'echo fine\n',
};

test('[L/expect] [L/contains] a test must fail as said before the fix, and pass after it', async () => {
  using project = createTestProject(files);
  // Also for the process that runs the gates.
  const env = { PATH: process.env.PATH, XDG_STATE_HOME: join(project.root, '.state') };
  writeFileSync(join(project.root, '.gitignore'), '.state\n');
  const json = async (...argv: string[]) => {
    const { code, stdout } = await project.run([...argv, '--json'], { env });
    return { code, reply: JSON.parse(stdout) };
  };
  const write = (text: string): void => writeFileSync(join(project.root, 'test.sh'), text);
  const what = 'sh test.sh (expected to fail with "AssertionError")';
  const trusted = await project.run(['trust', 'tdd'], { env, terminal: true, input: ['y'] });
  expect(trusted.code).toBe(exit.ok);
  await json('start', 'tdd');

  const green = await json('advance', 'wrote a test');
  const red = { what, pass: false, exit: 0, expect: 'fail' };
  expect(green).toMatchObject({ code: exit.no, reply: { step: 'reproduce', failed_gates: [red] } });
  expect(green.reply.failed_gates[0].tail).toContain('expected to fail, but it exited with 0');
  expect(green.reply.action).toEqual({
    do: 'fix',
    at: green.reply.at,
    gates: [{ what, exit: 0, expect: 'fail' }],
  });
  const shown = await project.run(['status'], { env });
  expect(shown.stdout).toContain(`${what}: exit 0`);
  expect(shown.stdout).toContain('expected to fail, but it exited with 0');

  write('echo SyntaxError; exit 1\n');
  const other = await json('advance', 'wrote a test');
  expect(other).toMatchObject({ code: exit.no, reply: { failed_gates: [{ what, exit: 1 }] } });
  expect(other.reply.failed_gates[0].tail).toContain('does not contain "AssertionError"');

  write('echo AssertionError: 1; exit 1\n');
  expect(await json('advance', 'wrote a test')).toMatchObject({ code: exit.ok, reply: { step: 'fix' } });
  // The tree is the same, and what passed on it was the failure.
  expect(await json('advance', 'fixed')).toMatchObject({
    code: exit.no,
    reply: { step: 'fix', failed_gates: [{ what: 'sh test.sh', exit: 1 }] },
  });

  write('echo fine\n');
  const end = await json('advance', 'fixed');
  expect(end).toMatchObject({ code: exit.ok, reply: { status: 'complete' } });
  const { stdout } = await project.run(['status', end.reply.run], { env });
  expect(stdout).toContain(`${what} failed`);
  expect(stdout).toContain('sh test.sh passed');
  expect((await project.run(['log', end.reply.run], { env })).stdout).toContain(what);
});
