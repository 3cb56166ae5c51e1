import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Original } from './entries.ts';

/** The record of a settings file, for restoring it. */
export interface KeptFile extends Original {
  path: string;
}

/** What one installation changed in a project. */
export interface Ledger {
  version: 2;
  host: string;
  root: string;
  files: KeptFile[];
  /** Folders that were created for the files. */
  folders: string[];
}

const fileOf = (state: string, host: string, root: string): string =>
  join(state, 'installs', `${host}-${createHash('sha256').update(root).digest('hex').slice(0, 16)}.json`);

/** `state`: Stepfast's folder of this user. An unreadable ledger or one of another version counts as missing. */
export function readLedger(state: string, host: string, root: string): Ledger | undefined {
  try {
    const ledger: Ledger = JSON.parse(readFileSync(fileOf(state, host, root), 'utf8'));
    const whole = Array.isArray(ledger.files) && Array.isArray(ledger.folders);
    return ledger.version === 2 && ledger.root === root && whole ? ledger : undefined;
  } catch {
    return undefined;
  }
}

/** Of other projects that still exist, for a host that has one installation for all of them. */
export function otherLedgers(state: string, host: string, root: string): Ledger[] {
  const folder = join(state, 'installs');
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names
    .filter((name) => name.startsWith(`${host}-`) && name.endsWith('.json'))
    .flatMap((name): Ledger[] => {
      try {
        return [JSON.parse(readFileSync(join(folder, name), 'utf8'))];
      } catch {
        return [];
      }
    })
    .filter((ledger) => ledger.version === 2 && ledger.root !== root && existsSync(ledger.root));
}

/** Atomic, by a rename. Readable only by the user, because settings may contain secrets. */
export function writeLedger(state: string, ledger: Ledger): void {
  const file = fileOf(state, ledger.host, ledger.root);
  mkdirSync(join(state, 'installs'), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    writeFileSync(temporary, `${JSON.stringify(ledger, null, 1)}\n`, { mode: 0o600, flag: 'wx' });
    renameSync(temporary, file);
  } finally {
    rmSync(temporary, { force: true });
  }
}

export const removeLedger = (state: string, host: string, root: string): void =>
  rmSync(fileOf(state, host, root), { force: true });
