import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Dialect, isRefusal, readDocument, type SettingsRefusal, sameJson } from './document.ts';
import { type Added, isSameEntry } from './merge.ts';
import { withoutOurs } from './rewritten.ts';
import { unmerge } from './unmerge.ts';

/** A settings file before and after we wrote into it. */
export interface KeptFile {
  path: string;
  /** null: there was no file. */
  before: string | null;
  after: string;
  added: Added[];
  /** Written before the host began, and not yet after it ended. */
  pending?: true;
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
  const both = [
    ...known.added,
    ...added.filter((one) => !known.added.some((each) => isSameEntry(each.entry, one.entry))),
  ];
  const before = start === undefined ? null : restored(start, known, dialect);
  const was = before === null || typeof before !== 'object' ? before : start;
  return { path, before: was ?? null, after: end, added: both };
}

/**
 * The file as it was, where nobody touched it since; else without our entries. null: there should be none.
 */
export function restored(now: string, kept: KeptFile, dialect: Dialect): string | null | SettingsRefusal {
  if (now === kept.after) return kept.before;
  if (kept.pending) return withoutPending(now, kept, dialect);
  const result = unmerge(now, kept.added, dialect);
  if (isRefusal(result)) return result;
  const document = readDocument(result.text, dialect);
  const empty = !isRefusal(document) && sameJson(document.value, {}) && !/[^\s{}\uFEFF]/.test(result.text);
  return empty && kept.before === null ? null : result.text;
}

/** Nobody knows how far the host came, so what counts is whether more than our entries changed. */
function withoutPending(
  now: string,
  { before, added }: KeptFile,
  dialect: Dialect,
): string | null | SettingsRefusal {
  const document = readDocument(now, dialect);
  if (isRefusal(document)) return document;
  const entries = added.map(({ entry }) => entry);
  return withoutOurs(before ?? undefined, now, entries, dialect) ?? null;
}

const fileOf = (state: string, host: string, root: string): string =>
  join(state, 'installs', `${host}-${createHash('sha256').update(root).digest('hex').slice(0, 16)}.json`);

/** `state` is Stepfast's folder of this user. One that cannot be read counts as none. */
export function readLedger(state: string, host: string, root: string): Ledger | undefined {
  try {
    const ledger: Ledger = JSON.parse(readFileSync(fileOf(state, host, root), 'utf8'));
    const whole = Array.isArray(ledger.files) && Array.isArray(ledger.folders);
    return ledger.version === 1 && ledger.root === root && whole ? ledger : undefined;
  } catch {
    return undefined;
  }
}

/** Whole or not at all, by a rename. Settings may hold secrets: nobody else reads it. */
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
