import { afterAll, expect, test } from 'vitest';
import { startTeam } from './remote-kit.ts';

/** What a runtime and its hooks promise over files, over HTTP: the same tests, in projects that are logged in. */
const team = await startTeam();
process.env.STEPFAST_TEST_URL = team.url;
process.env.STEPFAST_TEST_TOKEN = team.token('person');
afterAll(async () => await team[Symbol.asyncDispose]());

await import('../../../src/runtime/runtime.test.ts');
await import('../../../src/runtime/briefing/briefings.test.ts');
await import('../../../src/runtime/adoption/adopt.test.ts');
await import('../../../src/runtime/sessions/sessions.test.ts');
await import('../../../src/hooks/run-hook.test.ts');
await import('../../../src/hooks/outsiders.test.ts');
await import('../../../src/hooks/subagents.test.ts');

test('they all ran on the server', async () => {
  expect((await team.engine.ids()).length).toBeGreaterThan(50);
});
