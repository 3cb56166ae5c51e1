import { existsSync, readFileSync } from 'node:fs';

/** Skips lines that a killed run left incomplete. */
export function jsonLines<Line>(file: string): Line[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line): Line[] => {
      try {
        return [JSON.parse(line)];
      } catch {
        return [];
      }
    });
}
