import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { codedMessagesInTests, messages } from './scripts/build/messages.ts';
import { temporary } from './test/kit/temporary.ts';

export default defineConfig({
  plugins: [codedMessagesInTests],
  test: {
    // It would keep imports as they were resolved with the other messages.
    fsModuleCache: messages === 'sentences',
    include: ['src/**/*.test.ts', 'dashboard/src/**/*.test.ts', 'test/**/*.test.ts'],
    // Many real processes: `npm run e2e`.
    exclude: ['test/e2e/**'],
    isolate: false,
    // Many tests wait for processes and disks.
    maxWorkers: 2,
    // Processes that tests start are those of the bundle.
    globalSetup: ['test/e2e/build.ts'],
    setupFiles: ['test/kit/property.ts'],
    expect: { requireAssertions: true, poll: { timeout: 60_000 } },
    // A hang is found all the same; a slow machine is no fault.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    env: { ...temporary(), STEPFAST_TEST_CLI: join(import.meta.dirname, 'dist/cli.js') },
  },
});
