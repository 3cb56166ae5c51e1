import { execFileSync } from 'node:child_process';
import { basename } from 'node:path';
import { commandName } from '../../command-name.ts';
import type { FoundHost, SetupContext, SetupOptions, SetupPlan, SetupRefusal } from '../../runtime/index.ts';
import {
  isRefusal,
  ownersText,
  readLedger,
  readSettingsFile,
  type SettingsRefusal,
  withEntries,
  writeLedger,
  writeSettingsFile,
} from '../settings/index.ts';
import { hostName } from './parse-payload.ts';
import { dialect, ourEntries, schemaEntry, settingsFile } from './settings-file.ts';

/** OpenCode has no command that installs a plugin from a folder, so its settings are edited. */
export async function planInstall(
  _found: FoundHost,
  context: SetupContext,
  { plugin }: SetupOptions,
): Promise<SetupPlan | SetupRefusal> {
  const file = settingsFile(context);
  const name = basename(file);
  const entries = ourEntries(plugin);
  const now = readSettingsFile(file);
  const text = withEntries(now, entries, dialect);
  if (isRefusal(text)) return broken(name, text);
  const isTracked = now !== null && tracks(context, name);
  return {
    commands: [],
    edits: text === now ? [] : entries.map(({ path }) => ({ file: name, what: path.join('.') })),
    notes: isTracked
      ? [`${name} is in git, and the entries name a folder of this user: do not commit them.`]
      : [],
    perform: async () => install(file, context, plugin),
  };
}

function install(file: string, context: SetupContext, plugin: string): SetupRefusal | undefined {
  const { state, root } = context;
  const entries = ourEntries(plugin);
  const now = readSettingsFile(file);
  const ledger = readLedger(state, hostName, root);
  const known = ledger?.files.find(({ path }) => path === file);
  const before = ownersText(now, known, entries, dialect);
  const added = before === null ? [schemaEntry, ...entries] : entries;
  const text = isRefusal(before) ? before : withEntries(before, added, dialect);
  if (isRefusal(before) || isRefusal(text)) return broken(basename(file), isRefusal(before) ? before : text);
  const others = ledger?.files.filter(({ path }) => path !== file) ?? [];
  const files = [...others, { path: file, before, entries: [schemaEntry, ...entries] }];
  // First, so that a killed installation can be undone.
  writeLedger(state, { version: 2, host: hostName, root, files, folders: [] });
  if (text !== now) writeSettingsFile(file, text);
  return undefined;
}

function broken(name: string, refusal: SettingsRefusal | string | null): SetupRefusal {
  const { line, column, problem } = Object(refusal);
  return {
    code: 'settings_broken',
    message: `OpenCode cannot read ${name}, line ${line}, column ${column}: ${problem}`,
    next: `fix that file, then: ${commandName()} init`,
  };
}

function tracks({ root, env }: SetupContext, name: string): boolean {
  try {
    execFileSync('git', ['ls-files', '--error-unmatch', name], {
      cwd: root,
      env: { ...env },
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
}
