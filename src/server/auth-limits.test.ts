import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type HttpServer, startServer } from '../../test/kit/server/http.ts';
import { StepfastError } from '../errors.ts';
import { newToken } from '../token-format.ts';
import { hashToken } from './index.ts';

const status = async (server: HttpServer, token: string): Promise<number> =>
  (await server.call('GET', '/v1/whoami', { token })).status;

/** Counts the lookups of a server, of which each takes a while. */
function slowLookups(server: HttpServer): { asked: number; atOnce: number } {
  const find = server.backend.findToken;
  const counts = { asked: 0, atOnce: 0 };
  let running = 0;
  server.backend.findToken = async (hash) => {
    counts.asked += 1;
    running += 1;
    counts.atOnce = Math.max(counts.atOnce, running);
    await sleep(10);
    running -= 1;
    return await find(hash);
  };
  return counts;
}

const madeUp = (number: number): string[] => Array.from({ length: number }, () => newToken().token);
/** As those of earlier versions: nothing tells that nobody issued it. */
const withoutChecksum = (number: number, id = '0123456789abcdef'): string[] =>
  Array.from({ length: number }, (_, at) => `sf_${id}_${String(at).padStart(43, 'x')}`);

test('S6: a made-up token is refused without the database, as often as it comes, and counts against nobody', async () => {
  await using server = await startServer({ limits: { failuresPerMinute: 5 } });
  const counts = slowLookups(server);
  const garbage = [
    'x',
    'sf_0_short',
    ...madeUp(30).map((token) => token.replace(/.$/, (end) => (end === 'A' ? 'B' : 'A'))),
    ...madeUp(30).map((token) => token.replace(/^sf_[0-9a-f]+_/, 'sf_0123456789abcdef_')),
    'a.jwt.where_no_issuer_is_known',
  ];
  for (const token of garbage) expect(await status(server, token), token).toBe(401);
  expect(counts.asked).toBe(0);
});

test('S6: no number of bad tokens keeps a good one out that comes from the same address', async () => {
  await using server = await startServer({ limits: { failuresPerMinute: 5 } });
  const counts = slowLookups(server);
  const good = server.token('north');
  const { id } = newToken();
  const bad = [...withoutChecksum(60), ...madeUp(60), ...withoutChecksum(60, id)];
  const refused = Promise.all(bad.map((token) => status(server, token)));
  expect(await status(server, good)).toBe(200);
  expect(new Set(await refused)).toEqual(new Set([401, 429]));
  // None that never verified takes the connections of the others.
  expect(counts.atOnce).toBeLessThanOrEqual(4);
  expect(await status(server, server.token('north'))).toBe(200);
});

test('S6: a good token goes on while others guess its secret, also on a server that has not seen it', async () => {
  await using server = await startServer({ limits: { failuresPerMinute: 5 } });
  const good = server.token('north');
  const [, id = ''] = good.split('_');
  for (const token of withoutChecksum(20, id)) await status(server, token);
  expect(await status(server, good)).toBe(200);
});

test('S6: failures are counted by token id; a client that goes on with its revoked token is told to wait', async () => {
  let now = Date.now();
  await using server = await startServer({ limits: { failuresPerMinute: 5 }, clock: () => now });
  const [mine, other] = [server.token('north'), server.token('north')];
  expect(await status(server, mine)).toBe(200);
  server.backend.revoke(hashToken(mine));
  const statuses = [];
  for (let count = 0; count < 7; count += 1) statuses.push(await status(server, mine));
  expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429]);
  const told = await server.call('GET', '/v1/whoami', { token: mine });
  expect(told).toMatchObject({ status: 429, body: { code: 'too_many_requests' } });
  expect(told.headers.get('retry-after')).toBe('60');
  server.backend.revoke(hashToken(other));
  expect(await status(server, other)).toBe(401);
  now += 61_000;
  expect(await status(server, mine)).toBe(401);
});

test('S6: a token of an earlier version, which has no checksum, works', async () => {
  await using server = await startServer();
  const [old = ''] = withoutChecksum(1);
  const project = { id: 1, name: 'north' };
  server.backend.addToken(hashToken(old), {
    id: 'old',
    project,
    kind: 'agent',
    name: 'old',
    scopes: ['read'],
  });
  expect(await status(server, old)).toBe(200);
});

test('S6: many good tokens may come at once from one address', async () => {
  await using server = await startServer({ limits: { failuresPerMinute: 5 } });
  slowLookups(server);
  const good = Array.from({ length: 30 }, () => server.token('north'));
  expect(new Set(await Promise.all(good.map((token) => status(server, token))))).toEqual(new Set([200]));
});

test('a token is not called bad because the database was away', async () => {
  await using server = await startServer({ limits: { failuresPerMinute: 5 } });
  const find = server.backend.findToken;
  server.backend.findToken = async () => {
    throw new StepfastError('store_failed', 'gone');
  };
  const good = Array.from({ length: 12 }, () => server.token('north'));
  for (const token of good) expect(await status(server, token)).toBe(503);
  server.backend.findToken = find;
  expect(await status(server, good[0] ?? '')).toBe(200);
});
