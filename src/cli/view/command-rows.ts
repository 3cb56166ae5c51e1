import type { Output } from '../io.ts';
import { paint } from '../paint.ts';

/** Commands to type with what each does, in two columns. */
export function commandRows(rows: readonly (readonly [string, string])[], output: Output): string[] {
  const width = Math.max(...rows.map(([command]) => command.length)) + 3;
  return rows.map(
    ([command, what]) => `${paint(output, 'cyan', command)}${' '.repeat(width - command.length)}${what}`,
  );
}
