/** `stepfast run` on examples/overnight, as a person sees it at a terminal. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDriverStage } from '../../test/kit/driver-run.ts';
import { overnightFiles, scriptOvernight } from '../../test/kit/overnight.ts';
import { openTerminal } from '../../test/kit/terminal.ts';
import type { Panel } from './screen-svg.ts';

const command = 'stepfast run overnight';
// biome-ignore lint/suspicious/noControlCharactersInRegex: colors.
const wrapped = /(worktree(?:\x1b\[[\d;]*m| )*\/\S+)\n(?:\x1b\[[\d;]*m)*(?=\S)/;
const working = /✗ Refuse negative counts[\s\S]*\n\S (?:Refuse|Apply) .*\n\S (?:Refuse|Apply) /;

export const overnightSize = { columns: 112, rows: 60 };

export async function playOvernight(): Promise<Panel[]> {
  const stage = await createDriverStage(overnightFiles(), { workflow: 'overnight' });
  try {
    scriptOvernight(stage.model, { events: stage.events, delayMs: 1500 });
    const { root, env: person } = stage.project;
    const bin = join(root, '..', 'bin');
    mkdirSync(bin);
    const cli = join(import.meta.dirname, '..', '..', 'dist', 'cli.js');
    writeFileSync(join(bin, 'stepfast'), `#!/bin/sh\nexec '${process.execPath}' '${cli}' "$@"\n`);
    chmodSync(join(bin, 'stepfast'), 0o755);
    const terminal = await openTerminal({
      directory: join(root, '..'),
      // The terminal ends with its program.
      command: ['sh', '-c', `echo '$ ${command}'; ${command}; cat`],
      cwd: root,
      env: { ...stage.env, PATH: `${bin}:${stage.env.PATH}`, LANG: 'C.UTF-8' },
      ...overnightSize,
    });
    const screen = async (): Promise<string> =>
      (await terminal.screen())
        // A line that the terminal has wrapped fits once the path is one that a reader may have.
        .replace(wrapped, '$1')
        .replaceAll(person.HOME ?? '', '~')
        .replaceAll('/project-', '/shop-');
    try {
      await terminal.waitFor(working);
      const during = await screen();
      await terminal.waitFor(/pull request/, 300_000);
      return [
        { title: 'Two tasks at once; a false “done” was caught', screen: during },
        { title: 'In the morning', screen: await screen() },
      ];
    } finally {
      await terminal.close();
    }
  } finally {
    await stage[Symbol.asyncDispose]();
  }
}
