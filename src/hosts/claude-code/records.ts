import { existsSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { SetupContext } from '../../runtime/index.ts';
import {
  type Entry,
  isRefusal,
  type KeptFile,
  ownersText,
  readLedger,
  readSettingsFile,
  removeLedger,
  restored,
  settled,
  writeLedger,
  writeSettingsFile,
} from '../settings/index.ts';
import { real } from './installed.ts';
import { hostName } from './parse-payload.ts';
import { dialect, ourEntries, settingsFiles } from './settings-files.ts';

export interface Writing {
  /** Settings files that the host or Stepfast edits. */
  files: readonly string[];
  /** Entries that Stepfast adds to the local settings. */
  wanted: readonly Entry[];
  /** The plugin's folder. */
  plugin: string;
}

/** The changes of an installation to settings files, and the originals. */
export interface Records {
  /** Called before the host starts, so that a killed installation can be undone. */
  begin(): void;
  /** Each file in its owner's formatting, with the host's entries and ours. */
  settle(): void;
  /** Each file as at the start, plus what others wrote meanwhile. */
  undo(): void;
}

interface Start {
  /** The originals, including those kept by an earlier installation. */
  text: string | null;
  kept: KeptFile;
}

export function openRecords(context: SetupContext, { files, wanted, plugin }: Writing): Records {
  const root = real(context.root);
  const folder = join(context.root, '.claude');
  const hadFolder = existsSync(folder);
  const entries = ourEntries(plugin);
  const { local } = settingsFiles(context);
  // The files before the ledger: where another installation has changed a file, the ledger has its original.
  const texts = files.map((path) => ({ path, text: readSettingsFile(path) }));
  const ledger = readLedger(context.state, hostName, root);
  const starts = texts.map(({ path, text }): Start => {
    const known = ledger?.files.find((each) => each.path === path);
    const before = ownersText(text, known, entries, dialect);
    return { text, kept: { path, before: isRefusal(before) ? text : before, entries: both(known, entries) } };
  });
  return {
    begin: () => record(starts.map(({ kept }) => kept)),
    settle: () => record(starts.map(settleOne)),
    undo() {
      for (const { text, kept } of starts) {
        const now = readSettingsFile(kept.path);
        const left = restored(now, { before: text, entries }, dialect);
        if (!isRefusal(left) && left !== now) writeSettingsFile(kept.path, left);
      }
      if (!hadFolder) removeIfEmpty(folder);
      if (ledger) writeLedger(context.state, ledger);
      else removeLedger(context.state, hostName, root);
    },
  };

  function settleOne({ kept }: Start): KeptFile {
    const written = readSettingsFile(kept.path);
    const result = settled(written, kept, kept.path === local ? wanted : [], dialect);
    if (isRefusal(result)) return kept;
    if (result.text !== written) writeSettingsFile(kept.path, result.text);
    return { ...kept, before: result.before };
  }

  function record(kept: readonly KeptFile[]): void {
    const others = ledger?.files.filter(({ path }) => !files.includes(path)) ?? [];
    const folders = ledger?.folders ?? (hadFolder ? [] : [folder]);
    writeLedger(context.state, { version: 2, host: hostName, root, files: [...others, ...kept], folders });
  }
}

/** Entries of an earlier version are ours as well. */
const both = (known: KeptFile | undefined, entries: readonly Entry[]): Entry[] => [
  ...entries,
  ...(known?.entries ?? []).filter((old) => !entries.some((entry) => isDeepStrictEqual(old, entry))),
];

export function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // In use, or already removed.
  }
}
