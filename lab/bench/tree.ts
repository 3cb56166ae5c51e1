/** Cost of a tree hash compared with `git status`: `npm run bench -- tree [--files N] [--rounds N]`. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { treeOf } from '../../src/evidence/index.ts';
import { createTestProject } from '../../src/testing/index.ts';
import { median, printTable, takeTurns, timed } from '../figures.ts';
import { options } from '../options.ts';

const run = promisify(execFile);
const nameOf = (at: number): string =>
  `folder-${Math.floor(at / 500)}/part-${Math.floor(at / 50) % 10}/file-${at}.ts`;

export async function bench(): Promise<object> {
  const { files, rounds } = options({ files: 50_000, rounds: 8 });
  const numbers = Array.from({ length: files }, (_, at) => at);
  using project = createTestProject(
    Object.fromEntries(numbers.map((at) => [nameOf(at), `export const value = ${at};\n`])),
  );
  const { root } = project;
  const status = () => timed(() => run('git', ['status', '--porcelain'], { cwd: root }));
  const tree = (paths?: string[]) =>
    timed(async () => {
      const { unknown } = await treeOf({ worktree: root, boundMs: 60_000, ...(paths ? { paths } : {}) });
      if (unknown !== undefined) throw new Error(unknown);
    });
  const clean = await takeTurns(rounds, { status, tree: () => tree(), folder: () => tree(['folder-1']) });
  const changed = await takeTurns(Math.ceil(rounds / 2), {
    status: async (round) => {
      for (let at = 0; at < 10; at++) writeFileSync(join(root, nameOf(at * 97)), `round ${round}\n`);
      return await status();
    },
    tree: () => tree(),
  });
  const ms = (times: readonly number[]): number => Math.round(median(times));
  const figures = {
    ...{ files, statusMs: ms(clean.status), treeMs: ms(clean.tree), folderMs: ms(clean.folder) },
    ...{ changedStatusMs: ms(changed.status), changedMs: ms(changed.tree) },
  };
  printTable(Object.entries(figures));
  return { ...figures, treeToStatus: Number((figures.treeMs / figures.statusMs).toFixed(2)) };
}
