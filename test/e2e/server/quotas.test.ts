import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  createPostgres,
  createProjects,
  dropMonths,
  type Quotas,
} from '../../../src/store/postgres/index.ts';
import { type Arena, definitionOf, openArena } from '../../kit/server/attack.ts';

let arena: Arena;
beforeAll(async () => {
  arena = await openArena('--project-runs', '12', '--project-workflows', '3', '--project-megabytes', '2');
});
afterAll(() => arena?.[Symbol.asyncDispose]());

const plain = definitionOf([{ id: 'a', type: 'action', instructions: 'x' }]);
const named = (name: string): object => ({ ...plain, name });
const refused = { status: 403, body: { code: 'quota_exceeded' } };
const refusals = (): Promise<number> => arena.metric('stepfast_refused_total{code="quota_exceeded"}');

test('[S2] a project has quotas of workflows, runs and bytes; what ends or removes runs is always allowed', async () => {
  const { admin } = arena.tokens;
  const begun: string[] = [];
  for (const name of ['one', 'two', 'three']) begun.push((await arena.begin(named(name))).body.run);
  const beforehand = await refusals();
  expect(await arena.begin(named('four'))).toMatchObject(refused);
  expect(await refusals()).toBe(beforehand + 1);
  // A known workflow is no other.
  while (begun.length < 12) {
    const { status, body } = await arena.begin(named('one'));
    expect(status).toBe(200);
    begun.push(body.run);
  }
  expect(await arena.begin(named('one'))).toMatchObject(refused);
  const [run = '', other = ''] = begun;
  expect((await arena.call('DELETE', `/v1/runs/${other}`, { token: admin })).status).toBe(204);
  await expect.poll(async () => (await arena.begin(named('one'))).status, { interval: 500 }).toBe(200);

  const commands = (command: object, token = arena.tokens.attacker) =>
    arena.call('POST', `/v1/runs/${run}/commands`, { token, body: { command } });
  const write = (count: number) => commands({ type: 'todo', content: `${count} ${'x'.repeat(60_000)}` });
  let answer = await write(0);
  for (let count = 1; answer.status === 200 && count < 200; count += 1) answer = await write(count);
  expect(answer).toMatchObject(refused);
  expect(answer.body.next).toBeTruthy();
  expect(await commands({ type: 'status' })).toMatchObject({ status: 200 });
  expect(await commands({ type: 'cancel', actor: { kind: 'person' } }, arena.tokens.person)).toMatchObject({
    status: 200,
    body: { reply: { status: 'cancelled' } },
  });
  expect((await arena.call('DELETE', `/v1/runs/${run}`, { token: admin })).status).toBe(204);
  await expect.poll(async () => (await arena.begin(named('one'))).status, { interval: 500 }).toBe(200);

  // Another project has its own.
  expect((await arena.besides(async () => undefined)).failed).toBe(0);
}, 180_000);

test('[S2] what is counted is what is stored, also after a restart and a removal', async () => {
  const { url } = arena.database;
  const { id } = await createProjects(url).create('counted');
  const quotas: Quotas = { runs: 1000, definitions: 1000, bytes: 2 ** 40 };
  const { createEngine, newRun } = await import('../../../src/engine/index.ts');
  const { hashDefinition } = await import('../../../src/definition/index.ts');
  const counts = async (): Promise<unknown> => {
    const rows = await arena.database.query(`select runs, bytes from stepfast.usage where project = ${id}`);
    return rows.map(({ runs, bytes }) => [Number(runs), Number(bytes)]);
  };
  const recounted = async (): Promise<unknown> => {
    await arena.database.query(`select stepfast.count_usage_1(${id})`);
    return counts();
  };
  const runs: string[] = [];
  for (const _ of [1, 2]) {
    const postgres = createPostgres({ url, quotas });
    const engine = createEngine({ store: postgres.store(id), newRun, hashOf: hashDefinition });
    for (const name of ['a', 'b']) {
      const definition = { ...plain, name } as Parameters<typeof engine.begin>[0];
      const { run } = await engine.begin(definition, { type: 'start', now: 1 }, {});
      await engine.execute(run, { type: 'advance', output: 'x'.repeat(50_000), now: 2 }, 'key');
      runs.push(run);
    }
    const [first] = runs;
    if (runs.length === 4 && first !== undefined) await engine.remove(first);
    await postgres.close();
  }
  const found = await counts();
  expect(found).toEqual([[3, expect.any(Number)]]);
  expect(await recounted()).toEqual(found);
  // Nothing is that old, so nothing is dropped.
  expect(await dropMonths(url, 0)).toEqual([]);
});
