import { afterAll, beforeAll, expect, test } from 'vitest';
import { begin, call, definition } from '../../kit/server/http.ts';
import type { Served } from '../../kit/server/serve.ts';
import { type Shop, serveShop } from '../../kit/server/shop.ts';

let shop: Shop & { server: Served };
let token: string;

beforeAll(async () => {
  shop = await serveShop();
  token = await shop.token('ci');
});
afterAll(() => shop?.[Symbol.asyncDispose]());

/** The answer to a body, how long it took, and the longest that another client waited meanwhile. */
async function post(body: string) {
  const began = performance.now();
  let done = false;
  const posted = call(shop.server.url, 'POST', '/v1/runs', { token, body }).finally(() => {
    done = true;
  });
  let longest = 0;
  do {
    const asked = performance.now();
    expect((await call(shop.server.url, 'GET', '/healthz')).status).toBe(200);
    longest = Math.max(longest, performance.now() - asked);
  } while (!done);
  return { answer: await posted, ms: performance.now() - began, longest };
}

test('[S1] a definition with 20,000 steps costs a server hardly more than any other body of its size', async () => {
  await begin({ call: (...args) => call(shop.server.url, ...args) }, token);
  const steps = Array.from({ length: 20_000 }, (_, index) => ({
    id: `s${index}`,
    type: 'action',
    instructions: 'x',
  }));
  const body = (own: object): string => JSON.stringify({ definition, command: { type: 'start' }, ...own });
  const hostile = body({ definition: { ...definition, steps } });
  const plain = body({ unknown: steps });
  const before = await post(plain);
  expect(before.answer.status).toBe(422);
  const attacked = await post(hostile);
  expect(attacked.answer).toMatchObject({ status: 422, body: { code: 'not_understood' } });
  // Half a minute before, against some tens of milliseconds: no machine is so uneven.
  expect(attacked.longest).toBeLessThan(50 * Math.max(before.ms, 20));
});
