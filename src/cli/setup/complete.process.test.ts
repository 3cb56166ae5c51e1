import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { createTestFolder, type TestProject } from '../../testing/index.ts';
import { shownCommands } from '../commands.ts';
import { exit } from '../exit.ts';

const files = {
  '.stepfast/workflows/feat.yaml':
    'name: feat\ndescription: Build it\nsteps:\n  - { id: plan, type: action, instructions: x }\n  - { id: build, type: loop }\nloops:\n  build: [{ id: do, instructions: x }]\n',
};
const env = { PATH: process.env.PATH };

async function words(project: TestProject, line: string): Promise<string[]> {
  const { stdout, stderr, code } = await project.run(['complete', line], { env });
  expect({ stderr, code }).toEqual({ stderr: '', code: exit.ok });
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((each) => each.split('\t')[0] ?? '');
}

test('commands, options, workflows, runs, steps, loops and handles are completed', async () => {
  using project = createTestFolder(files);
  const { stdout } = await project.run(['start', 'feat', '--json'], { env });
  const { run, at } = JSON.parse(stdout);
  expect(await words(project, 'stepfast ')).toEqual([...shownCommands.map(({ name }) => name), 'help']);
  expect(await words(project, 'stepfast re')).toEqual([
    'reject',
    'review',
    'rewind',
    'report',
    'resume',
    'repair',
  ]);
  expect(await words(project, 'stepfast advance --out')).toEqual(['--output', '--output-file']);
  expect(await words(project, 'stepfast start fe')).toEqual(
    ['feat', 'feature'].filter((name) => name.startsWith('fe')),
  );
  expect(await words(project, 'stepfast status ')).toEqual([run]);
  expect(await words(project, 'stepfast advance --at ')).toEqual([at]);
  expect(await words(project, 'stepfast rewind ')).toEqual(['plan', 'build']);
  expect(await words(project, 'stepfast tasks ')).toEqual(['build']);
  expect(await words(project, 'stepfast review p')).toEqual(['pivot']);
  expect(await words(project, 'stepfast review pivot --to p')).toEqual(['plan']);
  expect(await words(project, 'stepfast completions ')).toEqual(['bash', 'zsh', 'fish']);
});

test('unknown words have no candidates and no error', async () => {
  using project = createTestFolder({ '.stepfast/config.yaml': 'nonsense: [' });
  expect(await words(project, 'stepfast nonsense ')).toEqual([]);
  expect(await words(project, 'stepfast status ')).toEqual([]);
  expect(await words(project, '')).toEqual([...shownCommands.map(({ name }) => name), 'help']);
});

test.each(['bash', 'zsh', 'fish'])('the completions of %s are valid there', async (shell) => {
  using project = createTestFolder();
  const { stdout, code } = await project.run(['completions', shell]);
  expect(code).toBe(exit.ok);
  const check = spawnSync(shell, ['-n'], { input: stdout, encoding: 'utf8' });
  // Passes if the shell is not installed.
  expect(check.stderr ?? '').toBe('');
});

test('an unknown shell is rejected', async () => {
  using project = createTestFolder();
  expect((await project.run(['completions', 'cmd'])).code).toBe(exit.usage);
});
