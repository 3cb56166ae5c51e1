import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { userDirectory } from '../definition/index.ts';

/**
 * Where a person decides, from `decide` in the user's own `stepfast/config.yaml`: in the session, or only in a terminal.
 * A value that is not known counts as the stricter one.
 */
export function decidesIn(
  home: string,
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform = process.platform,
): 'session' | 'terminal' {
  const file = join(userDirectory(home, env, platform), 'stepfast', 'config.yaml');
  const [, value] = /^decide:[ \t]*["']?([^\s"'#]*)/m.exec(textOf(file)) ?? [];
  return value === undefined || value === 'session' ? 'session' : 'terminal';
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
