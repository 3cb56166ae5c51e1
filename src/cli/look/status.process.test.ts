import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTestFolder } from '../../testing/index.ts';
import { exit } from '../exit.ts';

const env = { PATH: process.env.PATH };

test('status waits for running gates, and its exit status says when they are still running', async () => {
  using project = createTestFolder({
    '.stepfast/workflows/w.yaml':
      'name: w\ndescription: x\nsteps:\n  - { id: a, type: action, instructions: x, gate: [{ run: "until [ -e go ]; do sleep 0.05; done; echo why; false" }] }\n',
  });
  // The process that runs the gates needs it too.
  const own = { ...env, XDG_STATE_HOME: join(project.root, 'state') };
  await project.run(['trust', 'w'], { env: own, terminal: true, input: ['y'] });
  await project.run(['start', 'w'], { env: own });
  expect((await project.run(['advance', 'done', '--wait', '0'], { env: own })).code).toBe(exit.pending);
  expect((await project.run(['status'], { env: own })).code).toBe(exit.pending);
  writeFileSync(join(project.root, 'go'), '');
  const { code, stdout } = await project.run(['status', '--wait'], { env: own });
  expect(code).toBe(exit.ok);
  expect(stdout).toMatch(/✗ .*exit 1/);
  expect(stdout).toMatch(/full output: \.stepfast\/runs\/w-\d+-\w+\/gates\/\S+\/gate-1\.log\n/);
  const narrow = await project.run(['status'], { env: own, columns: 40 });
  expect(narrow.stdout).toMatch(/full output: \.stepfast\/runs\/w-\d+-\w+\/gates\/\S+\/gate-1\.log\n/);
});

test('status --as shows the task held under the name', async () => {
  using project = createTestFolder({
    '.stepfast/workflows/w.yaml':
      'name: w\ndescription: x\nsteps:\n  - { id: build, type: loop, parallel: 2 }\nloops:\n  build:\n    - { id: look, instructions: "Look at {task.title}", read_only: true }\n',
  });
  await project.run(['start', 'w'], { env });
  await project.run(['tasks', 'build', 'One', 'Two'], { env });
  await project.run(['claim', '--as', 'ann'], { env });
  await project.run(['claim', '--as', 'bob'], { env });
  const { stdout } = await project.run(['status', '--as', 'bob'], { env });
  expect(stdout).toContain('Look at Two');
  expect(stdout).not.toContain('Look at One');
});

test('on a narrow terminal the current step is never truncated', async () => {
  const ids = ['understanding', 'specification', 'implementation', 'verification'];
  using project = createTestFolder({
    '.stepfast/workflows/w.yaml': `name: w\ndescription: x\nsteps:\n${ids.map((id) => `  - { id: ${id}, type: action, instructions: x }\n`).join('')}`,
  });
  await project.run(['start', 'w'], { env });
  for (const id of ids.slice(0, 3)) await project.run(['advance', id], { env });
  const { stdout } = await project.run(['status'], { env, columns: 30 });
  expect(stdout).toContain('● verification');
  expect((await project.run(['runs'], { env, columns: 30 })).stdout).toMatch(/^ {2}verification$/m);
});
