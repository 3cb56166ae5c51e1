/** What `stepfast run` gives a session of Codex, what it refuses there, and how a usage limit ends. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { contextOf, lastUser, mainTurn, reply, toolCall } from '../../../src/testing/index.ts';
import { codexHost } from '../../kit/codex.ts';
import { complete, type DriverStage, stageWith } from '../../kit/driver-run.ts';
import { turnsOf } from '../../kit/driver-script.ts';
import { expectUntouched } from '../../kit/hostile-driver.ts';

const { shell } = codexHost;

let stage: DriverStage;
const begin = async (steps: string) => await stageWith(steps, {}, codexHost);
afterEach(async () => await stage[Symbol.asyncDispose]());

it('an agent has its model, and what it may not use is refused by a hook', async () => {
  stage = await begin(`agents:
  careful: { description: Reads, model: gpt-small, cannot: [Bash] }
steps:
  - { id: look, type: action, agent: careful, instructions: INSTRUCTIONS-LOOK }
`);
  const { model } = stage;
  model.on(
    lastUser(/INSTRUCTIONS-LOOK/),
    shell('touch forbidden.txt'),
    toolCall.advance('Could not.'),
    reply.text('Could not.'),
  );
  await complete(stage);
  expect(new Set(turnsOf(model).map(({ body }) => body.model))).toEqual(new Set(['gpt-small']));
  const last = turnsOf(model).at(-1) ?? expect.unreachable();
  expect(contextOf(last)).toContain('blocked by PreToolUse hook');
  expect(existsSync(join(await stage.worktree(), 'forbidden.txt'))).toBe(false);
});

it('a permission mode without limits is refused', async () => {
  stage = await begin(`agents:
  wild: { description: Wild, permissions: danger-full-access }
steps:
  - { id: look, type: action, agent: wild, instructions: INSTRUCTIONS-LOOK }
`);
  const { code, stderr, stdout } = await stage.drive(['w', '--no-wait']);
  expect({ code, text: stdout + stderr }).toMatchObject({
    code: 1,
    text: expect.stringContaining('danger-full-access'),
  });
  expect(turnsOf(stage.model)).toEqual([]);
});

it('a usage limit with the time of its reset is waited for', async () => {
  stage = await begin(`steps:
  - { id: build, type: action, instructions: INSTRUCTIONS-BUILD, gate: [{ run: test -f done.txt }] }
`);
  let reset = 0;
  stage.model.on(mainTurn(), () => {
    reset = Math.floor(Date.now() / 1000) + 8;
    return reply.error(429, 'usage_limit_reached', 'The usage limit has been reached', {
      'x-codex-primary-used-percent': '100',
      'x-codex-primary-window-minutes': '300',
      'x-codex-primary-reset-at': String(reset),
    });
  });
  stage.model.on(mainTurn(), shell('touch done.txt'), reply.text('Done.'));
  expect(await stage.drive(['w', '--no-wait'])).toMatchObject({ code: 0 });
  const [, second] = stage.model.requestsOf('main');
  expect(second?.at).toBeGreaterThanOrEqual(reset * 1000);
  expect(await stage.activity('retry')).toMatchObject([{ status: 429, until: reset * 1000 }]);
  await expectUntouched(stage);
});
