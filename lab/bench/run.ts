import { ensureBuilt } from '../../scripts/ensure-built.ts';

/**
 * `npm run bench -- NAME`: prints a table and a final JSON line. Fails if a limit is exceeded. Counts have their documented
 * limits; times allow for a busy machine.
 */
const benches: Record<string, Record<string, number>> = {
  mcp: { toolTokens: 800, largestToolTokens: 140, initializeRatio: 3, statusRatio: 5 },
  server: { bareToInProcess: 4, bareToHttp: 5, growth: 3 },
  claims: { oneTo16: 1, wrong: 0 },
  tree: { treeToStatus: 5 },
  context: { overBudget: 0, notWhole: 0, largeToSmallRatio: 2.5 },
  hook: { idleRatio: 0.12, activeRatio: 2.5 },
  hosts: { idleRatio: 0.2, activeRatio: 2.5, added: 1200 },
  tokens: { added: 1200, addedDeferred: 400, projected: 400 },
  window: { sentShare: 0.15, largestRequest: 8000 },
};

const name = process.argv[2] ?? '';
const limits = Object.hasOwn(benches, name) ? benches[name] : undefined;
if (!limits) {
  console.error(`Usage: npm run bench -- NAME. Benches: ${Object.keys(benches).join(', ')}`);
  process.exit(2);
}
ensureBuilt();
const { bench } = await import(`./${name}.ts`);
const figures: Record<string, unknown> = await bench();
for (const [what, limit] of Object.entries(limits)) {
  const value = figures[what];
  if (typeof value === 'number' && value <= limit) continue;
  console.error(`${what} is ${value}, more than ${limit}`);
  process.exitCode = 1;
}
console.log(JSON.stringify(figures));
