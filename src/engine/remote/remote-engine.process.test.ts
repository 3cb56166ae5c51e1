import { afterAll, beforeAll } from 'vitest';
import { engineContract } from '../../../test/kit/engine-contract.ts';
import { startTeam, type Team } from '../../../test/kit/server/remote.ts';
import { createRemoteEngine } from '../index.ts';

let team: Team;
beforeAll(async () => {
  team = await startTeam();
});
afterAll(async () => await team[Symbol.asyncDispose]());

engineContract('remote, over PostgreSQL,', async () =>
  createRemoteEngine({ url: team.url, token: team.token('person'), patienceMs: 60_000 }),
);
