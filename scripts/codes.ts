/** The unit and the e2e suite with codes instead of sentences; what fails only here depends on wording. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

process.chdir(join(import.meta.dirname, '..'));

const run = (args: readonly string[], messages: 'codes' | 'sentences'): void => {
  const env = { ...process.env, STEPFAST_MESSAGES: messages };
  execFileSync(process.execPath, args, { stdio: 'inherit', env });
};

const vitest = ['node_modules/vitest/vitest.mjs', 'run'];
try {
  run(vitest, 'codes');
  // Builds dist/ with codes before the first test.
  run([...vitest, '--project', 'e2e'], 'codes');
} finally {
  run(['scripts/build.ts'], 'sentences');
}
