import type {
  FoundHost,
  SetupContext,
  SetupOptions,
  SetupRefusal,
  UninstallResult,
} from '../../runtime/index.ts';
import { ask, quoted } from '../program.ts';
import {
  otherLedgers,
  readLedger,
  readSettingsFile,
  removeLedger,
  writeSettingsFile,
} from '../settings/index.ts';
import { failed } from './install.ts';
import { configFile, lookInstalled, marketplace, noList, pluginId, real } from './installed.ts';
import { hostName } from './parse-payload.ts';
import { removePlugin } from './plugin-folder.ts';

/** The plugin is for all projects: the last one that uses it removes it. */
export async function uninstall(
  found: FoundHost | undefined,
  context: SetupContext,
  { plugin }: Pick<SetupOptions, 'plugin'>,
): Promise<UninstallResult | SetupRefusal> {
  const root = real(context.root);
  const ledger = readLedger(context.state, hostName, root);
  const known = found && (await lookInstalled(found, context));
  if (found && !known) return noList(found, 'uninstall');
  if (otherLedgers(context.state, hostName, root).length > 0) {
    removeLedger(context.state, hostName, root);
    const note = 'Other projects use the plugin, so it stays: uninstall removes it in the last of them.';
    return { commands: [], files: [], used: true, notes: ledger ? [note] : [] };
  }
  const commands: string[][] = [
    ...(known?.plugin ? [['plugin', 'remove', pluginId]] : []),
    ...(known?.marketplace === undefined ? [] : [['plugin', 'marketplace', 'remove', marketplace]]),
  ];
  for (const args of found ? commands : []) {
    const ran = await ask(found?.program ?? '', args, context);
    if (ran.code !== 0) return failed(args, ran);
  }
  const path = configFile(context);
  const files = ledger ? [putBack(path, ledger.files.find((file) => file.path === path)?.before)] : [];
  // Without the program its settings still name the folder.
  const isListed = !found && ledger !== undefined;
  if (!isListed) {
    removePlugin(plugin);
    removeLedger(context.state, hostName, root);
  }
  return {
    commands: commands.map((args) => ['codex', ...args.map(quoted)].join(' ')),
    files,
    used: isListed,
    notes: isListed ? [`Codex was not found, so its plugin stays: codex plugin remove ${pluginId}`] : [],
  };
}

function putBack(path: string, before: string | null | undefined): UninstallResult['files'][number] {
  const now = readSettingsFile(path);
  const left = now === null ? null : withoutTrust(now);
  const isAsBefore = before !== undefined && bare(left ?? '') === bare(before ?? '');
  const text = isAsBefore ? before : left;
  if (text !== now) writeSettingsFile(path, text);
  if (text === null) return { file: path, how: 'removed' };
  return { file: path, how: isAsBefore ? 'as_before' : 'ours_removed' };
}

/** Codex keeps what the person trusted, also of a plugin that was removed. */
export const withoutTrust = (text: string): string =>
  text
    .replaceAll(/^\[hooks\.state\."stepfast@stepfast:[^\n]*\]\r?\n(?:(?!\[)[^\n]*(?:\n|$))*/gm, '')
    .replaceAll(/^\[hooks(?:\.state)?\]\s*(?=\[|$(?![\s\S]))/gm, '');

/** Blank lines at the end are the host's. */
const bare = (text: string): string => text.trimEnd();
