import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { temporary } from './test/kit/temporary.ts';

const built = ['test/e2e/build.ts'];
const prepared = [...built, 'test/kit/clusters.ts'];
const processes = '**/*.process.test.ts';
/** CI runs these in full only if something changed for these agents: scripts/ci/tiers.ts. */
const others = ['codex', 'copilot', 'gemini', 'opencode'].map((agent) => `test/e2e/${agent}/**/*.test.ts`);
const servers = 'test/e2e/server/**/*.test.ts';
const layout = 'test/layout.process.test.ts';

const tests = (name: string, include: string[], exclude: string[], more: object = {}) => ({
  extends: true as const,
  test: { name, include, exclude, ...more },
});

export default defineConfig({
  test: {
    fsModuleCache: true,
    allowOnly: false,
    setupFiles: ['test/kit/property.ts'],
    // Only hangs reach these limits. A slow machine isn't a failure.
    expect: { requireAssertions: true, poll: { timeout: Number(process.env.STEPFAST_POLL_MS ?? 300_000) } },
    testTimeout: 600_000,
    hookTimeout: 600_000,
    env: {
      ...temporary(),
      NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/stepfast/compiled'),
    },
    projects: [
      tests(
        'unit',
        ['src/**/*.test.ts', 'dashboard/src/**/*.test.ts', 'test/**/*.test.ts'],
        ['test/e2e/**', processes],
        { isolate: false, maxWorkers: 2, setupFiles: ['test/kit/property.ts', 'test/kit/no-processes.ts'] },
      ),
      // The linter's rules, which `npm run check` tries too.
      tests('layout', [layout], [], {}),
      tests('process', [`src/${processes}`, `test/${processes}`], [layout], {
        globalSetup: prepared,
        isolate: false,
        maxWorkers: availableParallelism() + 1,
        sequence: { groupOrder: 1 },
      }),
      tests('server', [servers], [], {
        globalSetup: prepared,
        isolate: false,
        maxWorkers: 3,
        sequence: { groupOrder: 2 },
      }),
      tests('e2e', ['test/e2e/**/*.test.ts'], [...others, servers], {
        globalSetup: prepared,
        isolate: false,
        maxWorkers: 3,
        sequence: { groupOrder: 2 },
      }),
      tests('agents', others, [], {
        globalSetup: built,
        maxWorkers: 3,
        sequence: { groupOrder: 3 },
      }),
    ],
  },
});
