import { cpSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Copies the declarations that the entries reach: the compiler writes those of every source file. */
export function copyPublicTypes(from: string, to: string, entries: readonly string[]): void {
  const copied = new Set<string>();
  const copy = (file: string): void => {
    if (copied.has(file)) return;
    copied.add(file);
    cpSync(join(from, file), join(to, file));
    const code = readFileSync(join(from, file), 'utf8').replace(/\/\*[\s\S]*?\*\//g, '');
    for (const [, path = ''] of code.matchAll(/(?:from |import\()["'](\.[^"']+)\.[jt]s["']/g))
      copy(join(dirname(file), `${path}.d.ts`));
  };
  for (const entry of entries) copy(entry);
}
