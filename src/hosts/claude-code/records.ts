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
  /** Files that the host or we write into. */
  files: readonly string[];
  /** What we add ourselves, in the local settings. */
  wanted: readonly Entry[];
  /** Where the plugin is. */
  plugin: string;
}

/** What an installation does to settings files, and what is kept of them. */
export interface Records {
  /** Before the host starts: an installation that is killed after that can still be undone. */
  begin(): void;
  /** Each file as its owner typed it, with the host's entries and ours. */
  settle(): void;
  /** Each file as it was at the start, with what others wrote into it meanwhile. */
  undo(): void;
}

interface Start {
  /** At the start, with what an earlier installation left. */
  text: string | null;
  kept: KeptFile;
}

export function openRecords(place: SetupContext, { files, wanted, plugin }: Writing): Records {
  const root = real(place.root);
  const folder = join(place.root, '.claude');
  const hadFolder = existsSync(folder);
  const entries = ourEntries(plugin);
  const { local } = settingsFiles(place);
  // The files before the ledger: where another installation has changed a file, the ledger has its original.
  const texts = files.map((path) => ({ path, text: readSettingsFile(path) }));
  const ledger = readLedger(place.state, hostName, root);
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
      if (ledger) writeLedger(place.state, ledger);
      else removeLedger(place.state, hostName, root);
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
    writeLedger(place.state, { version: 2, host: hostName, root, files: [...others, ...kept], folders });
  }
}

/** What an earlier version installed is ours as well. */
const both = (known: KeptFile | undefined, entries: readonly Entry[]): Entry[] => [
  ...entries,
  ...(known?.entries ?? []).filter((old) => !entries.some((entry) => isDeepStrictEqual(old, entry))),
];

export function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // It is in use, or gone.
  }
}
