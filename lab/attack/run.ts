/**
 * `npm run attack [-- --only WORD]`: every route as every kind of principal, and attacks by load, against a real server
 * and PostgreSQL. While they run, the server is measured from inside and a project beside is at work. Prints a table and
 * one JSON line; fails if anything succeeds.
 */
import { ensureBuilt } from '../../scripts/ensure-built.ts';
import { openArena } from '../../test/kit/server/attack.ts';
import { options } from '../options.ts';
import { loadAttacks } from './load.ts';
import { createTokens } from './principals.ts';
import { routeAttacks } from './routes.ts';

const maxBlockMs = 100;
const maxMb = 1024;

const { only } = options({ only: '' });
ensureBuilt();
if (!(await attackAll())) process.exitCode = 1;

async function attackAll(): Promise<boolean> {
  await using arena = await openArena();
  const all = [...(await routeAttacks(arena, await createTokens(arena))), ...loadAttacks(arena)];
  const attacks = all.filter(({ what }) => what.includes(only));
  const figures = { attacks: attacks.length, succeeded: 0, longestBlockMs: 0, peakMb: 0, othersFailed: 0 };
  // Compiling and connecting at the start is no attack.
  await arena.measured();
  const { failed } = await arena.besides(async () => {
    for (const { what, run } of attacks) {
      const { got, succeeded } = await run().catch((error) => ({ got: String(error), succeeded: true }));
      const { longestMs, peakMb } = await arena.measured();
      console.log(`${succeeded ? 'SUCCEEDED' : 'stopped  '}  ${what}: ${got} (${longestMs} ms)`);
      figures.succeeded += Number(succeeded);
      figures.longestBlockMs = Math.max(figures.longestBlockMs, longestMs);
      figures.peakMb = Math.max(figures.peakMb, peakMb);
    }
  });
  figures.othersFailed = failed;
  console.log(JSON.stringify(figures));
  const isBounded = figures.longestBlockMs <= maxBlockMs && figures.peakMb <= maxMb;
  return figures.succeeded + failed === 0 && isBounded;
}
