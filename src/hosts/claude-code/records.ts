import { existsSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import type { SetupPlace } from '../../runtime/index.ts';
import {
  type Entry,
  isRefusal,
  type KeptFile,
  merge,
  readLedger,
  readSettingsFile,
  remember,
  removeLedger,
  restored,
  settled,
  withoutOurs,
  writeLedger,
  writeSettingsFile,
} from '../settings/index.ts';
import { real } from './installed.ts';
import { hostName } from './parse.ts';
import { dialect, ourEntries, settingsFiles } from './settings-files.ts';

export interface Writing {
  /** Files that the host or we write into. */
  files: readonly string[];
  /** What we add ourselves, in the local settings. */
  wanted: readonly Entry[];
  /** Where the plugin is. */
  plugin: string;
}

/** What an installation does to settings files, and what is remembered of it. */
export interface Records {
  /** Before the host is asked for anything: whoever is ended after that can still be undone. */
  begin(): void;
  /** The host's change and ours, in each file as it was typed. */
  settle(): void;
  /** What somebody else wrote meanwhile stays. */
  undo(): void;
}

interface Start {
  path: string;
  /** Without what an installation that never ended left. */
  text: string | undefined;
  known: KeptFile | undefined;
}

export function openRecords(place: SetupPlace, { files, wanted, plugin }: Writing): Records {
  const root = real(place.root);
  const folder = join(place.root, '.claude');
  const hadFolder = existsSync(folder);
  const ledger = readLedger(place.state, hostName, root);
  const entries = ourEntries(plugin);
  const { local } = settingsFiles(place);
  const starts = files.map(startOf);
  return {
    begin: () => record(starts.map(pending)),
    settle() {
      const kept = starts.flatMap((start) => settleOne(start) ?? start.known ?? []);
      record(kept);
    },
    undo() {
      for (const { path, text } of starts) {
        const now = readSettingsFile(path);
        const left = withoutOurs(text, now, entries, dialect);
        if (left !== now) writeSettingsFile(path, left);
      }
      if (!hadFolder) removeIfEmpty(folder);
      if (ledger) writeLedger(place.state, ledger);
      else removeLedger(place.state, hostName, root);
    },
  };

  function startOf(path: string): Start {
    const text = readSettingsFile(path);
    const known = ledger?.files.find((each) => each.path === path);
    if (!known?.pending || text === undefined)
      return { path, text, known: known?.pending ? undefined : known };
    const before = restored(text, known, dialect);
    const isText = before === null || typeof before === 'string';
    return { path, text: isText ? (before ?? undefined) : text, known: undefined };
  }

  function pending({ path, text, known }: Start): KeptFile {
    const whole = merge(text, entries, dialect);
    const added = isRefusal(whole) ? [] : whole.added;
    return { ...remember(known, { path, start: text, end: text ?? '', added }, dialect), pending: true };
  }

  function settleOne({ path, text, known }: Start): KeptFile | undefined {
    const written = readSettingsFile(path);
    const own = path === local ? wanted : [];
    const result = settled({ path, start: text, written, known }, { wanted: own, entries }, dialect);
    if (result && result.text !== written) writeSettingsFile(path, result.text);
    return result?.kept;
  }

  function record(kept: readonly KeptFile[]): void {
    const others = ledger?.files.filter(({ path }) => !files.includes(path)) ?? [];
    const folders = ledger?.folders ?? (hadFolder ? [] : [folder]);
    writeLedger(place.state, { version: 1, host: hostName, root, files: [...others, ...kept], folders });
  }
}

export function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // It is in use, or gone.
  }
}
