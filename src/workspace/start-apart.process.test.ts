import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { drivenVariable } from './leftover-processes.ts';
import { startApart } from './start-apart.ts';

test.skipIf(process.platform === 'win32')(
  'a process apart descends from neither its caller nor a driven session',
  async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'stepfast-apart-')), 'a b.json');
    const script = `require('node:fs').writeFileSync(process.argv[1], JSON.stringify({
      parent: process.ppid, pid: process.pid, mark: process.env.${drivenVariable}, other: process.env.OTHER, args: process.argv.slice(2),
    }))`;
    const env = { ...process.env, [drivenVariable]: 'run/main', OTHER: 'kept' };
    const child = startApart(process.execPath, ['-e', script, file, 'two words', '$HOME;*'], { env });
    const read = (): Record<string, unknown> => {
      try {
        return JSON.parse(readFileSync(file, 'utf8'));
      } catch {
        return {};
      }
    };
    await expect.poll(() => read().args, { timeout: 30_000 }).toEqual(['two words', '$HOME;*']);
    expect(read()).toMatchObject({ other: 'kept' });
    expect(read()).not.toHaveProperty('mark');
    expect([process.pid, child.pid]).not.toContain(read().parent);
    expect(read().pid).not.toBe(child.pid);
  },
);
