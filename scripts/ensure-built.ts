import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Call before running the built package, so that tests never use an outdated build. */
export function ensureBuilt(): void {
  execFileSync(process.execPath, [join(import.meta.dirname, 'build.ts')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
