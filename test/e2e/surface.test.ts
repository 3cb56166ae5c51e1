import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

test('nothing of the public surface is lost, and what would be is named', () => {
  const directory = mkdtempSync(join(tmpdir(), 'stepfast-surface-'));
  const before = join(directory, 'before.txt');
  const gone = 'cli go --never-there';
  writeFileSync(before, `${readFileSync(join(root, 'test/fixtures/surface.txt'), 'utf8')}${gone}\n`);
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(root, 'scripts/surface.ts'), join(root, 'dist'), '--compare', before],
    { encoding: 'utf8' },
  );
  rmSync(directory, { recursive: true });
  const lost = stdout.split('\n').filter((line) => line.startsWith('-'));
  expect(lost, stderr).toEqual([`- ${gone}`]);
  expect(status).toBe(1);
});
