import { expect, test } from 'vitest';
import { createTestFolder } from '../../testing/index.ts';

const workflow = `name: w
description: Two steps
steps:
  - { id: plan, type: action, instructions: Plan. }
  - { id: build, type: action, instructions: Build. }
`;
const as = (session: string) => ({ env: { STEPFAST_AGENT: '1', STEPFAST_SESSION: session } });

test('[004/4] the sessions of a run are listed with the phases they completed', async () => {
  using project = createTestFolder({ '.stepfast/workflows/w.yaml': workflow });
  await project.run(['start', 'w'], as('monday'));
  await project.run(['advance', 'planned'], as('monday'));
  expect((await project.run(['sessions'], as('monday'))).stdout).toMatch(
    /^monday .* just now +live .* plan$/m,
  );
  await project.run(['advance', 'built'], as('tuesday'));
  const { code, stdout } = await project.run(['sessions'], as('tuesday'));
  expect(code).toBe(0);
  const [head, monday, tuesday, ...more] = stdout.trimEnd().split('\n');
  expect(head).toMatch(/^session +host +started +ended +machine +commit +phases completed$/);
  expect(monday).toMatch(/^monday .* just now +- .* plan$/);
  expect(tuesday).toMatch(/^tuesday .* just now +- .* build$/);
  expect(more).toEqual([]);
  const { run, sessions } = JSON.parse((await project.run(['sessions', '--json'], as('x'))).stdout);
  expect(run).toMatch(/^w-/);
  expect(sessions).toMatchObject([
    {
      session: 'monday',
      ended_at: null,
      phases_completed: ['plan'],
      environment: { platform: process.platform },
    },
    { session: 'tuesday', phases_completed: ['build'] },
  ]);
});

test('on a narrow terminal the machine is dropped before the times', async () => {
  using project = createTestFolder({ '.stepfast/workflows/w.yaml': workflow });
  await project.run(['start', 'w'], as('monday'));
  const { stdout } = await project.run(['sessions'], { ...as('monday'), columns: 40 });
  expect(stdout).toMatch(/^session +host +started +ended/);
  expect(stdout).toMatch(/^monday .*just now +live/m);
});

test('a run without sessions has an empty list, and an unknown run is not found', async () => {
  using project = createTestFolder({ '.stepfast/workflows/w.yaml': workflow });
  await project.run(['start', 'w'], { terminal: true });
  const none = await project.run(['sessions']);
  expect(none).toMatchObject({
    code: 0,
    stdout: '',
    stderr: expect.stringContaining('w-'),
  });
  expect(await project.run(['sessions', 'nope'])).toMatchObject({ code: 3 });
});
