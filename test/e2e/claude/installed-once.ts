import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll } from 'vitest';
import { type Ledger, writeLedger } from '../../../src/hosts/settings/index.ts';
import type { SessionHost } from '../../kit/host-stage.ts';

/** The parts of a stage that an installation changes. */
const parts = [join('claude-home', 'config'), 'home', 'project'];

/**
 * `stepfast init` starts Claude Code five times, so only a file's first test runs it. Later tests get a copy of all it
 * wrote, with their own paths.
 */
export function installedOnce(host: SessionHost): SessionHost {
  const saved = mkdtempSync(join(tmpdir(), 'stepfast-installed-'));
  let from: string | undefined;
  afterAll(() => rmSync(saved, { recursive: true, force: true, maxRetries: 5 }));
  return {
    ...host,
    async install({ project }, init) {
      const to = dirname(project.root);
      if (from === undefined) {
        await init();
        for (const part of parts) copy(join(to, part), join(saved, part));
        from = to;
        return;
      }
      for (const part of parts) copy(join(saved, part), join(to, part));
      for (const part of parts) replaceIn(join(to, part), from, to);
      renameLedgers(join(project.home, '.local', 'state', 'stepfast'));
    },
  };
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, filter: (file) => basename(file) !== '.git' });
}

function replaceIn(folder: string, from: string, to: string): void {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  for (const { parentPath, name } of files) {
    const file = join(parentPath, name);
    const text = file.includes('/.git/') ? '' : readFileSync(file, 'latin1');
    if (text.includes(from)) writeFileSync(file, text.replaceAll(from, to), 'latin1');
  }
}

/** A ledger's file is named after its project's path. */
function renameLedgers(state: string): void {
  const folder = join(state, 'installs');
  for (const name of readdirSync(folder)) {
    const ledger: Ledger = JSON.parse(readFileSync(join(folder, name), 'utf8'));
    rmSync(join(folder, name));
    writeLedger(state, ledger);
  }
}
