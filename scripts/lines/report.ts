import type { Counted } from './count.ts';

/** A line for each top folder, the files that are not counted, and the figures as JSON. */
export function reportOn({ reached, support }: Counted, commit: string): string {
  const byFolder = Map.groupBy(reached, ([file]) => file.split('/').slice(1, -1)[0] ?? '.');
  const rows = [...byFolder].sort().map(([folder, files]) => [folder, files.length, sum(files)] as const);
  const [files, lines] = [reached.size, sum([...reached])];
  const table = [['folder', 'files', 'lines'], ...rows, ['total', files, lines]].map(
    ([folder, ...figures]) =>
      String(folder).padEnd(12) + figures.map((each) => String(each).padStart(8)).join(''),
  );
  const supportLines = sum([...support]);
  return [
    ...table,
    '',
    `support, not counted: ${support.size} files, ${supportLines} lines`,
    ...[...support].map(([file, count]) => `${String(count).padStart(8)}  ${file}`),
    JSON.stringify({ commit, files, lines, support: { files: support.size, lines: supportLines } }),
  ].join('\n');
}

const sum = (files: readonly (readonly [string, number])[]): number =>
  files.reduce((total, [, lines]) => total + lines, 0);
