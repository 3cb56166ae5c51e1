import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Before anything that runs what users install: an old build would answer for the new sources. */
export function ensureBuilt(): void {
  execFileSync(process.execPath, [join(import.meta.dirname, 'build.ts')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
