import { afterAll, expect, test } from 'vitest';
import { startTeam } from '../../kit/server/remote.ts';

/** What a runtime and its hooks promise over files, over HTTP: the same tests, in projects that are logged in. */
const team = await startTeam();
process.env.STEPFAST_TEST_URL = team.url;
process.env.STEPFAST_TEST_TOKEN = team.token('person');
afterAll(async () => {
  // The worker's next file isn't logged in.
  delete process.env.STEPFAST_TEST_URL;
  delete process.env.STEPFAST_TEST_TOKEN;
  await team[Symbol.asyncDispose]();
});

await import('../../../src/runtime/runtime.process.test.ts');
await import('../../../src/runtime/briefing/briefings.process.test.ts');
await import('../../../src/runtime/adoption/adopt.process.test.ts');
await import('../../../src/runtime/sessions/sessions.process.test.ts');
await import('../../../src/hooks/run-hook.process.test.ts');
await import('../../../src/hooks/outsiders.process.test.ts');
await import('../../../src/hooks/subagents.process.test.ts');

test('they all ran on the server', async () => {
  expect((await team.engine.ids()).length).toBeGreaterThan(50);
});
