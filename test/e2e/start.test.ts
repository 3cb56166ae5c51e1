import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { cliProgram } from '../../src/testing/programs.ts';
import { commandsIn, missingLine } from '../kit/console-blocks.ts';

test('the tutorial does what it says', () => {
  const directory = mkdtempSync(join(tmpdir(), 'stepfast-start-'));
  try {
    const bin = join(directory, 'bin', 'stepfast');
    mkdirSync(dirname(bin));
    writeFileSync(bin, `#!/bin/sh\nexec '${process.execPath}' '${cliProgram}' "$@"\n`);
    chmodSync(bin, 0o755);
    const page = readFileSync(join(import.meta.dirname, '../../docs/start.md'), 'utf8');
    const commands = commandsIn(page);
    expect(commands.length).toBeGreaterThan(8);
    // One shell for all, as a person has; a mark after each command tells them apart.
    const script = commands.map(({ command }) => `${command}\necho "<<$?>>"`).join('\n');
    const { stdout } = spawnSync('sh', ['-c', `exec 2>&1\n${script}`], {
      cwd: directory,
      encoding: 'utf8',
      env: {
        HOME: join(directory, 'home'),
        PATH: [dirname(bin), dirname(process.execPath), process.env.PATH].join(delimiter),
        LANG: 'C.UTF-8',
      },
    });
    const outputs = stdout.split(/<<\d+>>\n/);
    for (const [index, shown] of commands.entries()) {
      const printed = outputs[index] ?? '';
      expect(missingLine(shown, printed), `$ ${shown.command}\nprinted:\n${printed}`).toBeUndefined();
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
