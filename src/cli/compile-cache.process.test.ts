import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTestProject } from '../testing/index.ts';
import { cliProgram } from '../testing/programs.ts';

test('the command uses a compile cache, and its gates do not', () => {
  using project = createTestProject({
    '.stepfast/workflows/w.yaml': `name: w
description: One gate
steps: [{ id: do, type: action, instructions: Do it., gate: [{ run: env > environment, writes: [environment] }] }]
`,
  });
  const cache = join(project.home, '.cache');
  mkdirSync(cache);
  const stepfast = (more: object, ...args: string[]) =>
    execFileSync(process.execPath, [cliProgram, ...args], {
      cwd: project.root,
      env: { ...project.env, ...more },
    });
  project.trust('w');
  stepfast({ NODE_DISABLE_COMPILE_CACHE: '1' }, 'start', 'w');
  expect(readdirSync(cache)).toEqual([]);
  stepfast({}, 'advance', '--output', 'Done.');
  expect(readdirSync(join(cache, 'stepfast', 'compiled'))).toHaveLength(1);
  const environment = readFileSync(join(project.root, 'environment'), 'utf8');
  expect(environment).toContain(`HOME=${project.home}\n`);
  expect(environment).not.toContain('COMPILE_CACHE');
});
