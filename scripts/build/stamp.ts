import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Records the sources of a build by content, because file times mean nothing after a checkout. */
export interface Stamp {
  /** True if neither the sources nor the build changed since the last `write`. */
  isCurrent(): boolean;
  remove(): void;
  write(): void;
}

/** Paths of files and folders, without tests. */
export function createStamp(file: string, sources: readonly string[], outputs: readonly string[]): Stamp {
  const now = (): string => `${digest(sources)} ${digest(outputs)}\n`;
  return {
    isCurrent: () => filesBelow(file).length > 0 && readFileSync(file, 'utf8') === now(),
    remove: () => rmSync(file, { force: true }),
    write() {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, now());
    },
  };
}

function digest(paths: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of paths.flatMap(filesBelow).filter((each) => !each.endsWith('.test.ts')))
    hash.update(`${file}\n`).update(createHash('sha256').update(readFileSync(file)).digest());
  return hash.digest('hex');
}

/** The file itself, or all files in the folder, sorted by name. */
function filesBelow(path: string): string[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats?.isDirectory()) return stats ? [path] : [];
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesBelow(join(path, name)));
}
