/** `stepfast run` as you start it, stop it, and decide in another terminal. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '../../../src/cli/index.ts';
import { lastUser, reply, toolCall } from '../../../src/testing/index.ts';
import { expectComplete, stageWith } from '../../kit/driver-run.ts';
import { openTerminal } from '../../kit/terminal.ts';

it('a run waits for a review, continues in the same worktree, and completes once you approve', async () => {
  await using stage = await stageWith(`steps:
  - { id: plan, type: action, instructions: INSTRUCTIONS-PLAN, review: { by: human } }
  - { id: build, type: action, instructions: INSTRUCTIONS-BUILD }
`);
  stage.model.on(lastUser(/INSTRUCTIONS-PLAN/), toolCall.advance('The plan.'), reply.text('Planned.'));
  stage.model.on(lastUser(/INSTRUCTIONS-BUILD/), toolCall.advance('Built.'), reply.text('Built.'));
  expect(await stage.drive(['w', '--no-wait'])).toMatchObject({ code: 4 });
  const { run } = await stage.state();
  const driver = stage.start(['--run', run]);
  await expect.poll(async () => (await stage.activity('taken')).length).toBe(2);
  const { PATH = '', HOME = '', XDG_STATE_HOME = '' } = stage.env;
  const terminal = await openTerminal({
    directory: HOME,
    command: [process.execPath, join(packageRoot(), 'dist', 'cli.js'), 'review', 'approve', '--run', run],
    cwd: stage.project.root,
    env: { PATH, HOME, XDG_STATE_HOME, LANG: 'C.UTF-8' },
    columns: 100,
    rows: 50,
  });
  await terminal.waitFor(/\[y\/N\]/);
  await terminal.type('y');
  await terminal.press('Enter');
  expect(await driver.ended, driver.printed()).toMatchObject({ code: 0 });
  // The command ends the terminal.
  await terminal.close().catch(() => {});
  await expectComplete(stage);
  const worktree = await stage.worktree();
  expect((await stage.activity('taken')).map((each) => each.worktree)).toEqual([worktree, worktree]);
});
