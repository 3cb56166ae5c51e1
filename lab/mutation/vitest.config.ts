import { defineConfig } from 'vitest/config';

/** What Stryker runs against each planted bug in the machine. */
export default defineConfig({
  test: { include: ['src/machine/**/*.test.ts'], isolate: false, maxWorkers: 1 },
});
