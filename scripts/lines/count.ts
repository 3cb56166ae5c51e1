import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Counted {
  /** Files that the package is made of, below `src`, with their lines. */
  reached: Map<string, number>;
  /** The test kit in src/testing, and files that no entry of the package imports; tests are in neither map. */
  support: Map<string, number>;
}

/** Of the repository in a folder. */
export function countLines(root: string): Counted {
  const files = new Map(
    globSync('src/**/*.ts', { cwd: root })
      .filter((file) => !file.endsWith('.test.ts'))
      .sort()
      .map((file) => [file, codeOf(readFileSync(join(root, file), 'utf8'))]),
  );
  const reached = new Set<string>();
  const reach = (file: string): void => {
    const code = files.get(file);
    if (code === undefined || reached.has(file)) return;
    reached.add(file);
    for (const imported of importsIn(code)) reach(join(file, '..', imported));
  };
  for (const entry of entriesIn(root)) reach(entry);
  const isProgram = (file: string): boolean => reached.has(file) && !file.startsWith('src/testing/');
  const lines = ([file, code]: [string, string[]]): [string, number] => [file, code.length];
  return {
    reached: new Map([...files].filter(([file]) => isProgram(file)).map(lines)),
    support: new Map([...files].filter(([file]) => !isProgram(file)).map(lines)),
  };
}

/** What the build names, and what is a program or a library by its name. */
const entriesIn = (root: string): string[] => [
  ...globSync('scripts/{build.ts,build/*.ts}', { cwd: root }).flatMap(
    (file) => readFileSync(join(root, file), 'utf8').match(/\bsrc\/[\w./-]+\.ts\b/g) ?? [],
  ),
  ...globSync(['src/index.ts', 'src/**/main.ts', 'src/**/library.ts'], { cwd: root }),
];

/** Relative paths in static, dynamic and type-only imports and in exports. */
const importsIn = (code: readonly string[]): string[] =>
  [...code.join('\n').matchAll(/\b(?:from\s*|import\s*\(?\s*)(['"])(\.[^'"]+)\1/g)].map(
    ([, , path = '']) => path,
  );

/**
 * The lines that are neither blank nor wholly a comment. As the formatter leaves the code, a comment over several lines
 * begins its first line. A line of a text over several lines that looks like a comment is taken for one.
 */
export function codeOf(text: string): string[] {
  let isComment = false;
  return text.split('\n').filter((line) => {
    if (!isComment && !line.trimStart().startsWith('/*')) return !/^\s*(\/\/.*)?$/.test(line);
    const end = line.indexOf('*/');
    isComment = end === -1;
    return !isComment && !/^\s*(\/\/.*)?$/.test(line.slice(end + 2));
  });
}
