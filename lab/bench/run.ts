import { ensureBuilt } from '../../scripts/ensure-built.ts';

/** `npm run bench -- NAME`: prints a table and a final JSON line. Fails if a limit is exceeded. */
interface Bench {
  load(): Promise<{ bench(): Promise<object> }>;
  /** Counts have their documented limits; times allow for a busy machine. */
  limits: Record<string, number>;
}

const benches: Record<string, Bench> = {
  mcp: {
    load: () => import('./mcp.ts'),
    limits: { toolTokens: 800, largestToolTokens: 140, initializeRatio: 3, statusRatio: 5 },
  },
  server: {
    load: () => import('./server.ts'),
    limits: { bareToInProcess: 4, bareToHttp: 5, growth: 3 },
  },
  bloat: { load: () => import('./bloat.ts'), limits: { growth: 1.5 } },
  claims: { load: () => import('./claims.ts'), limits: { oneTo16: 1, wrong: 0 } },
  tree: { load: () => import('./tree.ts'), limits: { treeToStatus: 5 } },
  context: {
    load: () => import('./context.ts'),
    limits: { overBudget: 0, notWhole: 0, largeToSmallRatio: 2.5 },
  },
  hook: { load: () => import('./hook.ts'), limits: { idleRatio: 0.12, activeRatio: 2 } },
  hosts: {
    load: () => import('./hosts.ts'),
    limits: { idleRatio: 0.2, activeRatio: 2.5, added: 1200 },
  },
  tokens: {
    load: () => import('./tokens.ts'),
    limits: { added: 1200, addedDeferred: 400, projected: 400 },
  },
  window: { load: () => import('./window.ts'), limits: { sentShare: 0.15, largestRequest: 8000 } },
};

const name = process.argv[2] ?? '';
const chosen = Object.hasOwn(benches, name) ? benches[name] : undefined;
if (!chosen) {
  console.error(`Usage: npm run bench -- NAME. Benches: ${Object.keys(benches).join(', ')}`);
  process.exit(2);
}
ensureBuilt();
const { bench } = await chosen.load();
const measured = Object.entries(await bench());
for (const [what, limit] of Object.entries(chosen.limits)) {
  const value = measured.find(([key]) => key === what)?.[1];
  if (typeof value === 'number' && value <= limit) continue;
  console.error(`${what} is ${value}, more than ${limit}`);
  process.exitCode = 1;
}
console.log(JSON.stringify(Object.fromEntries(measured)));
