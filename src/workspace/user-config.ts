import { readFileSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { userDirectory } from '../definition/index.ts';

/** The user's own `stepfast/config.yaml`, outside of every repository. */
export const userConfigFile = (
  home: string,
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform = process.platform,
): string => join(userDirectory(home, env, platform), 'stepfast', 'config.yaml');

/**
 * Where a person decides, from `decide` in the user's own `stepfast/config.yaml`: in the session, or only in a terminal.
 * A value that is not known counts as the stricter one.
 */
export function decidesIn(
  home: string,
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform = process.platform,
): 'session' | 'terminal' {
  const text = textOf(userConfigFile(home, env, platform));
  const [, value] = /^decide:[ \t]*["']?([^\s"'#]*)/m.exec(text) ?? [];
  return value === undefined || value === 'session' ? 'session' : 'terminal';
}

/**
 * Whether the file may say how the user is notified, without a YAML parser. A file in the repository is not the user's,
 * whatever the environment says, unless the repository is the user's home.
 */
export function mayNotify(file: string, worktrees: readonly string[], home: string): boolean {
  if (worktrees.some((each) => isInside(each, file) && !isInside(each, home))) return false;
  return /^\{|^["']?notify["']?[ \t]*:/m.test(textOf(file));
}

/** By its name: links are not followed. */
export const isInside = (folder: string, path: string): boolean => {
  const way = relative(folder, path);
  return way === '' || !(way.startsWith('..') || isAbsolute(way));
};

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
