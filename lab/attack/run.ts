/**
 * `npm run attack [-- --only WORD]`: every route as every kind of principal, and the attacks of earlier findings,
 * against a real server and PostgreSQL. While they run, the server is measured from inside and a project beside is at
 * work. Prints a table and one JSON line; fails if anything succeeds.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ensureBuilt } from '../../scripts/ensure-built.ts';
import type { Attack } from './attack.ts';
import { clientAttacks } from './clients.ts';
import { findingAttacks } from './findings.ts';
import { createGround, type Ground, plain, request } from './ground.ts';
import { principalAttacks } from './principals.ts';
import { routeAttacks } from './routes.ts';

const maxBlockMs = 100;
const maxMb = 1024;
const sampleMs = 50;
const workMs = 200;

const { values } = parseArgs({ options: { only: { type: 'string' } } });
ensureBuilt();
await using ground = await createGround();
const all = [...(await routeAttacks(ground)), ...principalAttacks, ...findingAttacks, ...clientAttacks];
const chosen = all.filter(({ id, what }) => `${id} ${what}`.includes(values.only ?? ''));

const neighbor = workBeside(ground);
let peakMb = 0;
let longestBlockMs = 0;
let succeeded = 0;
const routes = new Map<string, string[]>();
for (const attack of chosen) {
  // The last one ends the server.
  if (attack.id === 'S8') await neighbor.stop();
  const { got, blockMs, success } = await attempt(attack);
  if (success) succeeded += 1;
  const [operation = '', as = ''] = attack.what.split(' as ');
  if (attack.id === 'routes' && !success && blockMs <= maxBlockMs)
    routes.set(operation, [...(routes.get(operation) ?? []), `${as} ${got}`]);
  else
    console.log(
      `${success ? 'SUCCEEDED' : 'stopped  '}  ${attack.id.padEnd(9)} ${attack.what}: ${got} (${Math.round(blockMs)} ms)`,
    );
}
for (const [operation, got] of routes) console.log(`stopped    routes    ${operation}: ${got.join('; ')}`);
const othersFailed = await neighbor.stop();
const figures = {
  attacks: chosen.length,
  succeeded,
  longestBlockMs: Math.round(longestBlockMs),
  peakMb: Math.round(peakMb),
  othersFailed,
};
console.log(JSON.stringify(figures));
if (succeeded > 0 || longestBlockMs > maxBlockMs || peakMb > maxMb || othersFailed > 0) process.exitCode = 1;

async function attempt(attack: Attack): Promise<{ got: string; blockMs: number; success: boolean }> {
  let blockMs = 0;
  const sampler = setInterval(() => {
    const seen = ground.probe();
    blockMs = Math.max(blockMs, seen.longestBlockMs);
    peakMb = Math.max(peakMb, seen.peakMb);
  }, sampleMs);
  try {
    const { got, succeeded: success } = await attack.run(ground);
    if (attack.id !== 'routes') await sleep(3 * sampleMs);
    return { got, blockMs, success };
  } catch (error) {
    return { got: String(error), blockMs, success: true };
  } finally {
    clearInterval(sampler);
    longestBlockMs = Math.max(longestBlockMs, blockMs);
  }
}

/** Another project's agent, who notices whatever stops the server. */
function workBeside({ url, neighbor: token }: Ground): { stop(): Promise<number> } {
  let failed = 0;
  let isOver = false;
  const work = (async () => {
    while (!isOver) {
      const { ok, why } = await step();
      if (!ok) {
        failed += 1;
        console.log(`beside     ${why}`);
      }
      await sleep(workMs);
    }
  })();
  return {
    async stop() {
      isOver = true;
      await work;
      return failed;
    },
  };

  async function step(): Promise<{ ok: boolean; why: string }> {
    try {
      const body = { definition: plain, command: { type: 'start', summary: 'beside' } };
      const started = await request(`${url}/v1/runs`, 'POST', token, body);
      if (started.status !== 200)
        return { ok: false, why: `${started.status} ${started.text.slice(0, 200)}` };
      const { run } = JSON.parse(started.text) as { run: string };
      const read = await request(`${url}/v1/runs/${run}`, 'GET', token);
      return { ok: read.status === 200, why: `${read.status} ${read.text.slice(0, 200)}` };
    } catch (error) {
      return { ok: false, why: String(error) };
    }
  }
}
