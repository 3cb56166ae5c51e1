import { join } from 'node:path';
import { commandName } from '../../command-name.ts';
import {
  type FoundHost,
  isSetupRefusal,
  type SetupContext,
  type SetupOptions,
  type SetupPlan,
  type SetupRefusal,
  type UninstallResult,
} from '../../runtime/index.ts';
import { ask } from '../program.ts';
import {
  entriesIn,
  isRefusal,
  type KeptFile,
  ownersText,
  readDocument,
  readLedger,
  readSettingsFile,
  removeLedger,
  restored,
  settled,
  writeLedger,
  writeSettingsFile,
} from '../settings/index.ts';
import {
  dialect,
  hostFailed,
  type Installed,
  lookInstalled,
  marketplace,
  noList,
  ourEntries,
  pluginId,
  real,
  settingsFile,
  typedCommand,
} from './installed.ts';
import { hostName } from './parse-payload.ts';
import { pluginFolder } from './plugin-files.ts';

export async function planInstall(
  found: FoundHost,
  context: SetupContext,
  { team, plugin }: SetupOptions,
): Promise<SetupPlan | SetupRefusal> {
  const refusal = team ? noTeam() : notReadable(context);
  if (refusal) return refusal;
  const known = await lookInstalled(found, context);
  if (!known) return noList(found, 'init');
  const folder = join(plugin, pluginFolder);
  const commands = commandsFor(known, folder);
  if (isSetupRefusal(commands)) return commands;
  const off = known.marketplace !== undefined && known.plugin?.enabled === false;
  const notes = [
    ...(off ? [`The plugin is disabled. Enable it: copilot plugin enable ${pluginId}`] : []),
    ...(commands.length > 0
      ? ['Copilot CLI has no plugins for one project: it is installed for all your projects.']
      : []),
  ];
  const file = settingsFile(context);
  return {
    commands: commands.map(typedCommand),
    edits: commands.length > 0 ? [{ file, what: 'the plugin and its marketplace, by these commands' }] : [],
    notes,
    perform: () => install(found, context, { commands, known }),
  };
}

function commandsFor(known: Installed, folder: string): string[][] | SetupRefusal {
  if (known.marketplace === undefined)
    return [
      ['plugin', 'marketplace', 'add', folder],
      ['plugin', 'install', pluginId],
    ];
  if (real(known.marketplace) !== real(folder))
    return {
      code: 'other_marketplace',
      message: `Copilot CLI has another marketplace named '${marketplace}'${known.marketplace && `, at ${known.marketplace}`}.`,
      next: `copilot plugin marketplace remove ${marketplace}, then: ${commandName()} init`,
    };
  // It is loaded in place, so a new version needs nothing.
  return known.plugin === undefined ? [['plugin', 'install', pluginId]] : [];
}

async function install(
  found: FoundHost,
  context: SetupContext,
  { commands, known }: { commands: readonly string[][]; known: Installed },
): Promise<SetupRefusal | undefined> {
  const path = settingsFile(context);
  const text = readSettingsFile(path);
  const ledger = keptFile(context);
  const before = ownersText(text, ledger, ourEntries, dialect);
  const kept: KeptFile = { path, before: isRefusal(before) ? text : before, entries: ourEntries };
  // Before the host starts, so that a killed installation can be undone.
  keep(context, kept);
  for (const args of commands) {
    const ran = await ask(found.program, args, context);
    if (ran.code === 0) continue;
    if (known.marketplace === undefined)
      await ask(found.program, ['plugin', 'marketplace', 'remove', marketplace], context);
    const left = restored(readSettingsFile(path), { before: text, entries: ourEntries }, dialect);
    if (!isRefusal(left)) writeSettingsFile(path, left);
    if (ledger) keep(context, ledger);
    else forget(context);
    return hostFailed(args, ran, 'init');
  }
  const result = settled(readSettingsFile(path), kept, [], dialect);
  if (isRefusal(result)) return undefined;
  writeSettingsFile(path, result.text);
  keep(context, { ...kept, before: result.before });
  return undefined;
}

/** Runs the host's own commands, then restores the settings whatever the host reported. */
export async function uninstall(
  found: FoundHost | undefined,
  context: SetupContext,
): Promise<UninstallResult | SetupRefusal> {
  const known = found && (await lookInstalled(found, context));
  if (found && !known) return noList(found, 'uninstall');
  const path = settingsFile(context);
  const text = readSettingsFile(path);
  const ledger = keptFile(context);
  const isOurs = ledger !== undefined || entriesIn(text, ourEntries, dialect).length > 0;
  const original = ownersText(text, ledger, ourEntries, dialect);
  const commands = [
    ...(known?.plugin?.enabled ? [['plugin', 'uninstall', pluginId]] : []),
    ...(known?.marketplace === undefined ? [] : [['plugin', 'marketplace', 'remove', marketplace]]),
  ];
  let failed: SetupRefusal | undefined;
  for (const args of commands) {
    const ran = await ask(found?.program ?? '', args, context);
    if (ran.code !== 0) failed ??= hostFailed(args, ran, 'uninstall');
  }
  const files = isOurs ? [putBack(path, original, ledger)] : [];
  if (failed) return failed;
  if (files.every(({ how }) => how !== 'left')) forget(context);
  return { commands: commands.map(typedCommand), files, used: false, notes: [] };
}

function putBack(
  path: string,
  original: ReturnType<typeof ownersText>,
  ledger: KeptFile | undefined,
): UninstallResult['files'][number] {
  if (isRefusal(original)) return { file: path, how: 'left', why: `it cannot be read: ${original.problem}` };
  writeSettingsFile(path, original);
  if (original === null) return { file: path, how: 'removed' };
  return { file: path, how: original === ledger?.before ? 'as_before' : 'ours_removed' };
}

/** The settings are the user's: one record for all projects. */
const rootOf = (context: SetupContext): string => settingsFile(context);

const keptFile = (context: SetupContext): KeptFile | undefined =>
  readLedger(context.state, hostName, rootOf(context))?.files[0];

const keep = (context: SetupContext, kept: KeptFile): void =>
  writeLedger(context.state, {
    version: 2,
    host: hostName,
    root: rootOf(context),
    files: [kept],
    folders: [],
  });

const forget = (context: SetupContext): void => removeLedger(context.state, hostName, rootOf(context));

const noTeam = (): SetupRefusal => ({
  code: 'no_team_install',
  message: 'Copilot CLI installs plugins for a user, not for a project.',
  next: `${commandName()} init --host copilot, without --team`,
});

function notReadable(context: SetupContext): SetupRefusal | undefined {
  const path = settingsFile(context);
  const document = readDocument(readSettingsFile(path) ?? '', dialect);
  if (!isRefusal(document)) return undefined;
  const { line, column, problem } = document;
  return {
    code: 'settings_broken',
    message: `Copilot CLI cannot read ${path}, line ${line}, column ${column}: ${problem}.`,
    next: `fix that file, then: ${commandName()} init`,
  };
}
