import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Once before all files: many run what users install, and an old build would answer for the new sources. */
export function setup(): void {
  const script = join(import.meta.dirname, '..', '..', 'scripts', 'build.ts');
  execFileSync(process.execPath, [script], { stdio: 'pipe' });
}
