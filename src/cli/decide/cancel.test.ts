import { expect, test } from 'vitest';
import { createTestFolder } from '../../testing/index.ts';
import { exit } from '../exit.ts';

const env = { PATH: process.env.PATH };
const workflow = 'name: w\ndescription: x\nsteps:\n  - { id: a, type: action, instructions: x }\n';

test('the id of a run is no reason: nothing else is cancelled in its stead', async () => {
  using project = createTestFolder({ '.stepfast/workflows/w.yaml': workflow });
  const { stdout } = await project.run(['start', 'w', '--json'], { env });
  const { run } = JSON.parse(stdout);
  const suffix = run.slice(run.lastIndexOf('-') + 1);
  const refused = await project.run(['cancel', suffix, '--yes'], { env, terminal: true });
  expect(refused.code).toBe(exit.usage);
  expect(refused.stderr).toContain(`stepfast cancel --run ${suffix} "why"`);
  const done = await project.run(['cancel', '--run', suffix, 'no longer needed', '--yes'], {
    env,
    terminal: true,
  });
  expect(done.code).toBe(exit.ok);
});
