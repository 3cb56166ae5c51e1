import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // Many real processes: `npm run e2e`.
    exclude: ['test/e2e/**'],
    isolate: false,
    // Many tests wait for processes and disks.
    maxWorkers: 2,
    expect: { requireAssertions: true },
    testTimeout: 20_000,
  },
});
