import { defineConfig } from 'vitest/config';
import { codedMessagesInTests, messages } from './scripts/build/messages.ts';
import { temporary } from './test/kit/temporary.ts';

export default defineConfig({
  plugins: [codedMessagesInTests],
  test: {
    // It would keep imports as they were resolved with the other messages.
    fsModuleCache: messages === 'sentences',
    include: ['test/e2e/**/*.test.ts'],
    globalSetup: ['test/e2e/build.ts'],
    setupFiles: ['test/kit/property.ts'],
    expect: { requireAssertions: true, poll: { timeout: 60_000 } },
    testTimeout: 600_000,
    hookTimeout: 600_000,
    env: temporary(),
    // Most of the time they wait for processes.
    maxWorkers: 3,
  },
});
