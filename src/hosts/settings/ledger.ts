import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Dialect, isRefusal, readDocument, type SettingsRefusal, sameJson } from './document.ts';
import type { Added } from './merge.ts';
import { unmerge } from './unmerge.ts';

/** A settings file before and after we wrote into it. */
export interface KeptFile {
  path: string;
  /** null: there was no file. */
  before: string | null;
  after: string;
  added: Added[];
}

/** What one installation changed in a project. */
export interface Ledger {
  version: 1;
  host: string;
  root: string;
  files: KeptFile[];
  /** Folders that were made for the files. */
  folders: string[];
}

/** What to remember after `start` became `end`; a file that was written into before keeps what it was before that. */
export function remember(
  known: KeptFile | undefined,
  { path, start, end, added }: { path: string; start: string | undefined; end: string; added: Added[] },
  dialect: Dialect,
): KeptFile {
  if (!known) return { path, before: start ?? null, after: end, added };
  const both = [...known.added, ...added.filter((one) => !known.added.some((each) => isSame(each, one)))];
  const before = start === undefined ? null : restored(start, known, dialect);
  const was = before === null || typeof before !== 'object' ? before : start;
  return { path, before: was ?? null, after: end, added: both };
}

/**
 * The file as it was, where nobody touched it since; else without our entries. null: there should be none.
 */
export function restored(now: string, kept: KeptFile, dialect: Dialect): string | null | SettingsRefusal {
  if (now === kept.after) return kept.before;
  const result = unmerge(now, kept.added, dialect);
  if (isRefusal(result)) return result;
  const document = readDocument(result.text, dialect);
  const empty = !isRefusal(document) && sameJson(document.value, {}) && !/[^\s{}\uFEFF]/.test(result.text);
  return empty && kept.before === null ? null : result.text;
}

const isSame = (one: Added, other: Added): boolean =>
  one.entry.kind === other.entry.kind &&
  sameJson([...one.entry.path], [...other.entry.path]) &&
  (one.entry.kind === 'value' || sameJson(one.entry.value, other.entry.value));

const fileOf = (state: string, host: string, root: string): string =>
  join(state, 'installs', `${host}-${createHash('sha256').update(root).digest('hex').slice(0, 16)}.json`);

/** `state` is Stepfast's folder of this user. One that cannot be read counts as none. */
export function readLedger(state: string, host: string, root: string): Ledger | undefined {
  try {
    const ledger: Ledger = JSON.parse(readFileSync(fileOf(state, host, root), 'utf8'));
    return ledger.version === 1 && ledger.root === root ? ledger : undefined;
  } catch {
    return undefined;
  }
}

/** Settings may hold secrets: nobody else reads it. */
export function writeLedger(state: string, ledger: Ledger): void {
  const file = fileOf(state, ledger.host, ledger.root);
  mkdirSync(join(state, 'installs'), { recursive: true, mode: 0o700 });
  // So that its mode is ours.
  if (existsSync(file)) rmSync(file);
  writeFileSync(file, `${JSON.stringify(ledger, null, 1)}\n`, { mode: 0o600 });
}

export const removeLedger = (state: string, host: string, root: string): void =>
  rmSync(fileOf(state, host, root), { force: true });
