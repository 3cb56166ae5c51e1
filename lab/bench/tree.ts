/** Cost of a tree hash compared with `git status`: `npm run bench -- tree [--files N] [--rounds N]`. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { treeOf } from '../../src/evidence/index.ts';
import { median } from '../figures.ts';

const run = promisify(execFile);

interface Figures {
  files: number;
  statusMs: number;
  treeMs: number;
  changedStatusMs: number;
  changedMs: number;
  folderMs: number;
  treeToStatus: number;
}

/** Prints a table of medians. Rounds are interleaved, so that other load affects all equally. */
export async function bench(): Promise<Figures> {
  const { values } = parseArgs({
    allowPositionals: true,
    options: { files: { type: 'string', default: '50000' }, rounds: { type: 'string', default: '9' } },
  });
  const [files, rounds] = [Number(values.files), Number(values.rounds)];
  const root = await mkdtemp(join(tmpdir(), 'stepfast-bench-'));
  try {
    await fill(root, files);
    const status = (): Promise<unknown> => run('git', ['status', '--porcelain'], { cwd: root });
    const tree = async (paths?: string[]): Promise<void> => {
      const { unknown } = await treeOf({ worktree: root, boundMs: 60_000, ...(paths ? { paths } : {}) });
      if (unknown !== undefined) throw new Error(unknown);
    };
    const change = async (round: number): Promise<void> => {
      for (let at = 0; at < 10; at++) await writeFile(join(root, nameOf(at * 97)), `round ${round}\n`);
    };
    await status();
    const clean = await medians(rounds, { status, tree, folder: () => tree(['folder-1']) });
    let round = 0;
    const changed = await medians(Math.ceil(rounds / 2), { status, tree: () => tree() }, () =>
      change(round++),
    );
    const { status: statusMs = 0, tree: treeMs = 0, folder: folderMs = 0 } = clean;
    const treeToStatus = Number((treeMs / statusMs).toFixed(2));
    const { status: changedStatusMs = 0, tree: changedMs = 0 } = changed;
    const figures = { files, statusMs, treeMs, changedStatusMs, changedMs, folderMs, treeToStatus };
    print(figures);
    return figures;
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

const nameOf = (at: number): string =>
  `folder-${Math.floor(at / 500)}/part-${Math.floor(at / 50) % 10}/file-${at}.ts`;

async function fill(root: string, files: number): Promise<void> {
  const git = (...args: string[]): Promise<unknown> =>
    run('git', ['-c', 'user.name=bench', '-c', 'user.email=bench@example.org', ...args], { cwd: root });
  for (let at = 0; at < files; at += 50) {
    await mkdir(join(root, nameOf(at), '..'), { recursive: true });
    const group = Array.from({ length: Math.min(50, files - at) }, (_, offset) => at + offset);
    await Promise.all(
      group.map((each) => writeFile(join(root, nameOf(each)), `export const value = ${each};\n`)),
    );
  }
  await git('init', '-q');
  await git('add', '-A');
  await git('commit', '-qm', 'all');
}

async function medians(
  rounds: number,
  works: Record<string, () => Promise<unknown>>,
  before?: () => Promise<void>,
): Promise<Record<string, number>> {
  const times: Record<string, number[]> = {};
  for (let round = 0; round < rounds; round++) {
    await before?.();
    for (const [name, work] of Object.entries(works)) {
      const started = performance.now();
      await work();
      times[name] = [...(times[name] ?? []), performance.now() - started];
    }
  }
  return Object.fromEntries(Object.entries(times).map(([name, all]) => [name, Math.round(median(all))]));
}

function print(figures: Figures): void {
  const rows: [string, number][] = [
    ['git status', figures.statusMs],
    ['tree, clean', figures.treeMs],
    ['git status, 10 changed', figures.changedStatusMs],
    ['tree, 10 changed', figures.changedMs],
    ['tree of one folder', figures.folderMs],
  ];
  for (const [name, ms] of rows) console.log(`${name.padEnd(24)}${String(ms).padStart(6)} ms`);
}
