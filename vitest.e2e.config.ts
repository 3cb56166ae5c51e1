import { defineConfig } from 'vitest/config';
import { temporary } from './test/kit/temporary.ts';

export default defineConfig({
  test: {
    include: ['test/e2e/**/*.test.ts'],
    globalSetup: ['test/e2e/build.ts'],
    setupFiles: ['test/kit/property.ts'],
    expect: { requireAssertions: true },
    testTimeout: 240_000,
    hookTimeout: 240_000,
    env: temporary(),
    maxWorkers: 2,
  },
});
