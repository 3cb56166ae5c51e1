import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { expect, test } from 'vitest';

interface Shown {
  command: string;
  /** Lines that occur in the output in this order; `…` stands for anything. */
  output: string[];
}

/** The `console` blocks of a page: `$ ` begins a command, a here-document belongs to it, the rest is shown output. */
function commandsIn(page: string): Shown[] {
  const found: Shown[] = [];
  for (const [, block = ''] of page.matchAll(/^```console\n([\s\S]*?)^```/gm)) {
    let until: string | undefined;
    for (const line of block.split('\n').filter((each) => each !== '')) {
      const last = found.at(-1);
      if (until !== undefined && last) {
        last.command += `\n${line}`;
        if (line === until) until = undefined;
      } else if (line.startsWith('$ ')) {
        found.push({ command: line.slice(2), output: [] });
        until = /<< '(\w+)'/.exec(line)?.[1];
      } else last?.output.push(line);
    }
  }
  return found;
}

const matches = (shown: string, line: string): boolean =>
  new RegExp(`^${shown.split('…').map(escaped).join('.*')}$`).test(line);

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

test('the tutorial does what it says', () => {
  const directory = mkdtempSync(join(tmpdir(), 'stepfast-start-'));
  try {
    const bin = join(directory, 'bin', 'stepfast');
    mkdirSync(dirname(bin));
    const main = join(import.meta.dirname, '../../src/cli/main.ts');
    writeFileSync(bin, `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`);
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
    for (const [index, { command, output }] of commands.entries()) {
      const lines = (outputs[index] ?? '').split('\n').map((line) => line.trimEnd());
      let from = 0;
      for (const shown of output) {
        const at = lines.findIndex((line, number) => number >= from && matches(shown, line));
        expect(at, `$ ${command}\nshould print: ${shown}\nprinted:\n${lines.join('\n')}`).not.toBe(-1);
        from = at + 1;
      }
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
