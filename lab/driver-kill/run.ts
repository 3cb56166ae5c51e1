/** Drivers of runs, killed and started again: `npm run driver-kill [-- --kills N] [--seed N]`. */
import { parseArgs } from 'node:util';
import { ensureBuilt } from '../../scripts/ensure-built.ts';
import { killDrivers } from '../../test/kill/driver.ts';
import { chosenSeed } from '../../test/kit/seed.ts';

const { values } = parseArgs({ options: { kills: { type: 'string' }, seed: { type: 'string' } } });
const kills = Number(values.kills ?? 20);
if (!(kills > 0)) throw new Error('--kills needs a number');
const seed = chosenSeed(values.seed);
ensureBuilt();
const { at, findings, ...report } = await killDrivers({ kills, seed });
const { worktreesLeft, acceptedTwice, startedTwice, staleReceipts, lost, processesLeft } = report;
console.table(Object.entries(at).map(([moment, count]) => ({ 'killed in': moment, times: count })));
for (const what of findings.slice(0, 60)) console.log(what);
const broken = { acceptedTwice, startedTwice, staleReceipts, lost, processesLeft };
console.log(JSON.stringify({ seed, kills: report.kills, runs: report.runs, worktreesLeft, ...broken }));
if (findings.length > 0) {
  console.error(`npm run driver-kill -- --kills ${kills} --seed ${seed}`);
  process.exitCode = 1;
}
