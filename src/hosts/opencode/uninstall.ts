import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { FoundHost, SetupContext, SetupOptions, UninstallResult } from '../../runtime/index.ts';
import {
  entriesIn,
  isRefusal,
  ownersText,
  readLedger,
  readSettingsFile,
  removeLedger,
  writeSettingsFile,
} from '../settings/index.ts';
import { hostName } from './parse-payload.ts';
import { dialect, ourEntries, settingsFiles } from './settings-file.ts';

type FileResult = UninstallResult['files'][number];

export async function uninstall(
  _found: FoundHost | undefined,
  context: SetupContext,
  { plugin }: Pick<SetupOptions, 'plugin'>,
): Promise<UninstallResult> {
  const { state, root } = context;
  const ledger = readLedger(state, hostName, root);
  const files = settingsFiles(context).flatMap((file): FileResult[] => {
    const now = readSettingsFile(file);
    const known = ledger?.files.find(({ path }) => path === file);
    const entries = known?.entries ?? ourEntries(plugin);
    if (now === null || (!known && entriesIn(now, entries, dialect).length === 0)) return [];
    const text = ownersText(now, known, entries, dialect);
    const name = basename(file);
    if (isRefusal(text)) {
      const why = `it cannot be read: line ${text.line}, column ${text.column}: ${text.problem}`;
      return [{ file: name, how: 'left', why }];
    }
    if (text !== now) writeSettingsFile(file, text);
    if (text === null) return [{ file: name, how: 'removed' }];
    return [{ file: name, how: text === known?.before ? 'as_before' : 'ours_removed' }];
  });
  if (files.every(({ how }) => how !== 'left')) removeLedger(state, hostName, root);
  return { commands: [], files, used: isUsed(state), notes: [] };
}

/** Another project or host loads the plugin. */
function isUsed(state: string): boolean {
  try {
    return readdirSync(join(state, 'installs')).some((name) => name.endsWith('.json'));
  } catch {
    return false;
  }
}
