/**
 * Counts the lines of `src` that are neither blank nor comment: `node scripts/lines.ts [COMMIT]`, the working tree by
 * default. Counted is what the package's entries import, directly or not. Tests are left out. `src/testing`, which is
 * test support published as a kit, and files that no entry imports are listed as support, outside the total.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countLines } from './lines/count.ts';
import { reportOn } from './lines/report.ts';

const root = join(import.meta.dirname, '..');
const [, , name] = process.argv;
console.log(name === undefined ? reportOn(countLines(root), 'working tree') : reportAt(commitOf(name)));

function reportAt(commit: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'stepfast-lines-'));
  try {
    execFileSync('tar', ['-x', '-C', folder], { input: git('archive', commit) });
    return reportOn(countLines(folder), commit);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function commitOf(revision: string): string {
  return git('rev-parse', '--verify', `${revision}^{commit}`).toString().trim();
}

function git(...args: string[]): Buffer {
  return execFileSync('git', args, { cwd: root, maxBuffer: Number.POSITIVE_INFINITY });
}
