import { commandName } from '../../command-name.ts';
import type {
  FoundHost,
  SetupContext,
  SetupOptions,
  SetupRefusal,
  UninstallResult,
} from '../../runtime/index.ts';
import { ask, quoted, type Ran } from '../program.ts';
import {
  type Entry,
  entriesIn,
  isRefusal,
  type KeptFile,
  ownersText,
  readLedger,
  readSettingsFile,
  removeLedger,
  restored,
  writeSettingsFile,
} from '../settings/index.ts';
import { lookInstalled, marketplace, noList, pluginId, real } from './installed.ts';
import { hostName } from './parse-payload.ts';
import { removeIfEmpty } from './records.ts';
import { describeError, dialect, ourEntries, settingsFiles, shownFile } from './settings-files.ts';

type FileResult = UninstallResult['files'][number];

/** Runs the host's own commands, then restores each settings file whatever the host reported. */
export async function uninstall(
  found: FoundHost | undefined,
  context: SetupContext,
  { team, plugin }: Pick<SetupOptions, 'team' | 'plugin'>,
): Promise<UninstallResult | SetupRefusal> {
  const root = real(context.root);
  const ledger = readLedger(context.state, hostName, root);
  const known = found && (await lookInstalled(found, context));
  if (found && !known) return noList(found, 'uninstall');
  const { local, project } = settingsFiles(context);
  const entries = ourEntries(plugin);
  const isOurs = team || ledger?.files.some(({ path }) => path === project) === true;
  const targets = [local, ...(isOurs ? [project] : [])].flatMap(
    (file) => targetFor(file, ledger?.files, entries) ?? [],
  );
  const theirs = isOurs ? null : readSettingsFile(project);
  const here = known?.here ?? [];
  const mine = here.filter(({ scope }) => scope === 'local' || (scope === 'project' && isOurs));
  const others = known && known.elsewhere + here.length - mine.length;
  const commands: string[][] = [
    ...mine.map(({ scope }) => ['plugin', 'uninstall', pluginId, '--scope', scope]),
    // Removing it would remove the plugin from every project.
    ...(known?.marketplace !== undefined && others === 0
      ? [['plugin', 'marketplace', 'remove', marketplace]]
      : []),
  ];
  const failed = await firstFailed(commands, found, context);
  const files = targets.map((target) => putBack(target, context));
  for (const folder of ledger?.folders ?? []) removeIfEmpty(folder);
  // The host may have rewritten it.
  if (theirs !== null) keepTeams(project, theirs, entries);
  // Kept for the next run, if the host writes these files again.
  if (failed) return failed;
  if (files.every(({ how }) => how !== 'left')) removeLedger(context.state, hostName, root);
  const isTeams = entriesIn(theirs, entries, dialect).length > 0;
  const forAll = here.some(({ scope }) => scope === 'user');
  return {
    commands: commands.map((args) => ['claude', ...args.map(quoted)].join(' ')),
    files: isTeams ? [...files, { file: shownFile(project, context), how: 'left', why: teams() }] : files,
    used: others === undefined || others > 0,
    notes: forAll
      ? [
          `It is still installed for all your projects. To remove it: claude plugin uninstall ${pluginId} --scope user`,
        ]
      : [],
  };
}

const teams = (): string =>
  `it is committed and shared by the team. To remove the plugin for everyone: ${commandName()} uninstall --team`;

async function firstFailed(
  commands: readonly string[][],
  found: FoundHost | undefined,
  context: SetupContext,
): Promise<SetupRefusal | undefined> {
  for (const args of commands) {
    const ran = await ask(found?.program ?? '', args, context);
    if (ran.code !== 0) return refusalOf(args, ran);
  }
  return undefined;
}

function refusalOf(args: readonly string[], { code, stdout, stderr }: Ran): SetupRefusal {
  const said = `${stdout}\n${stderr}`.trim().split('\n').slice(-3).join('\n  ');
  return {
    code: 'host_failed',
    message: `'claude ${args.map(quoted).join(' ')}' failed (exit ${code}):\n  ${said}\nOur entries in this project's settings were taken out all the same.`,
    next: `fix the problem it reports, then: ${commandName()} uninstall`,
  };
}

interface Target {
  file: string;
  known: KeptFile | undefined;
  entries: readonly Entry[];
  /** The text without our entries. */
  text: ReturnType<typeof restored>;
}

/** Read before the host rewrites the file. undefined if it has no entry of ours. */
function targetFor(
  file: string,
  files: readonly KeptFile[] | undefined,
  entries: readonly Entry[],
): Target | undefined {
  const now = readSettingsFile(file);
  const known = files?.find(({ path }) => path === file);
  if (now === null || (!known && entriesIn(now, entries, dialect).length === 0)) return undefined;
  return { file, known, entries: known?.entries ?? entries, text: ownersText(now, known, entries, dialect) };
}

function putBack({ file, known, entries, text }: Target, context: SetupContext): FileResult {
  const name = shownFile(file, context);
  const now = readSettingsFile(file);
  // Keeps what others wrote meanwhile.
  const left = isRefusal(text) ? text : restored(now, { before: text, entries }, dialect);
  if (isRefusal(left))
    return { file: name, how: 'left', why: `it cannot be read: ${describeError(name, left)}` };
  if (left !== now) writeSettingsFile(file, left);
  if (left === null) return { file: name, how: 'removed' };
  return { file: name, how: left === known?.before ? 'as_before' : 'ours_removed' };
}

function keepTeams(file: string, text: string, entries: readonly Entry[]): void {
  const now = readSettingsFile(file);
  const left = restored(now, { before: text, entries }, dialect);
  if (!isRefusal(left) && left !== now) writeSettingsFile(file, left);
}
