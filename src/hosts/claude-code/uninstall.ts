import type { FoundHost, SetupOptions, SetupPlace, SetupRefusal, Uninstalled } from '../../runtime/index.ts';
import {
  type Entry,
  entriesIn,
  isSameBut,
  type KeptFile,
  readLedger,
  readSettingsFile,
  removeLedger,
  restored,
  writeSettingsFile,
} from '../settings/index.ts';
import { lookInstalled, marketplace, noList, pluginId, real } from './installed.ts';
import { hostName } from './parse.ts';
import { ask, quoted, type Ran } from './program.ts';
import { removeIfEmpty } from './records.ts';
import { dialect, ourEntries, sayWhere, settingsFiles, shownFile } from './settings-files.ts';

type FileResult = Uninstalled['files'][number];

/** First the host's own commands, then each settings file as its owner had it, whatever the host said. */
export async function uninstall(
  found: FoundHost | undefined,
  place: SetupPlace,
  { team, plugin }: Pick<SetupOptions, 'team' | 'plugin'>,
): Promise<Uninstalled | SetupRefusal> {
  const root = real(place.root);
  const ledger = readLedger(place.state, hostName, root);
  const known = found && (await lookInstalled(found, place));
  if (found && !known) return noList(found, 'uninstall');
  const { local, project } = settingsFiles(place);
  const entries = ourEntries(plugin);
  const isOurs = team || ledger?.files.some(({ path }) => path === project) === true;
  const targets = [local, ...(isOurs ? [project] : [])].flatMap(
    (file) => targetFor(file, ledger?.files, entries) ?? [],
  );
  const theirs = isOurs ? undefined : readSettingsFile(project);
  const here = known?.here ?? [];
  const mine = here.filter(({ scope }) => scope === 'local' || (scope === 'project' && isOurs));
  const others = known && known.elsewhere + here.length - mine.length;
  const commands: string[][] = [
    ...mine.map(({ scope }) => ['plugin', 'uninstall', pluginId, '--scope', scope]),
    // To remove it takes the plugin from every project.
    ...(known?.marketplace !== undefined && others === 0
      ? [['plugin', 'marketplace', 'remove', marketplace]]
      : []),
  ];
  const failed = await firstFailed(commands, found, place);
  const files = targets.map((target) => putBack(target, entries, place));
  for (const folder of ledger?.folders ?? []) removeIfEmpty(folder);
  // The host may have written it anew.
  if (theirs !== undefined) keepTeams(project, theirs, entries);
  // Kept for the next time, when the host writes these files once more.
  if (failed) return failed;
  if (files.every(({ how }) => how !== 'left')) removeLedger(place.state, hostName, root);
  const isTeams = theirs !== undefined && entriesIn(theirs, entries, dialect).length > 0;
  const forAll = here.some(({ scope }) => scope === 'user');
  return {
    commands: commands.map((args) => ['claude', ...args.map(quoted)].join(' ')),
    files: isTeams ? [...files, { file: shownFile(project, place), how: 'left', why: teams }] : files,
    used: others === undefined || others > 0,
    notes: forAll
      ? [
          `You have it for all your projects, and that stays: claude plugin uninstall ${pluginId} --scope user`,
        ]
      : [],
  };
}

const teams =
  "it is committed, so it is the team's. To take the plugin out for everybody: stepfast uninstall --team";

async function firstFailed(
  commands: readonly string[][],
  found: FoundHost | undefined,
  place: SetupPlace,
): Promise<SetupRefusal | undefined> {
  for (const args of commands) {
    const ran = await ask(found?.program ?? '', args, place);
    if (ran.code !== 0) return refusalOf(args, ran);
  }
  return undefined;
}

function refusalOf(args: readonly string[], { code, stdout, stderr }: Ran): SetupRefusal {
  const said = `${stdout}\n${stderr}`.trim().split('\n').slice(-3).join('\n  ');
  return {
    code: 'host_failed',
    message: `'claude ${args.map(quoted).join(' ')}' failed (exit ${code}):\n  ${said}\nOur entries in this project's settings were taken out all the same.`,
    next: 'mend what it says, then: stepfast uninstall',
  };
}

interface Target {
  file: string;
  kept: KeptFile;
  /** As it should be; null: not at all. */
  text: ReturnType<typeof restored>;
  untouched: boolean;
}

/** Looked at before the host writes it anew. */
function targetFor(
  file: string,
  known: readonly KeptFile[] | undefined,
  entries: readonly Entry[],
): Target | undefined {
  const now = readSettingsFile(file);
  if (now === undefined) return undefined;
  const kept = known?.find(({ path }) => path === file) ?? withoutLedger(file, now, entries);
  if (!kept) return undefined;
  const text = restored(now, kept, dialect);
  return { file, kept, text, untouched: now === kept.after || text === kept.before };
}

/** Installed by hand, or the record is lost: what has our name is ours. */
function withoutLedger(path: string, now: string, entries: readonly Entry[]): KeptFile | undefined {
  const added = entriesIn(now, entries, dialect).map((entry) => ({ entry, found: 0 }));
  return added.length === 0 ? undefined : { path, before: now, after: '', added };
}

function putBack(
  { file, kept, text, untouched }: Target,
  entries: readonly Entry[],
  place: SetupPlace,
): FileResult {
  const name = shownFile(file, place);
  if (text !== null && typeof text === 'object')
    return { file: name, how: 'left', why: `it cannot be read: ${sayWhere(name, text)}` };
  const now = readSettingsFile(file);
  if (now === text || (now === undefined && text === null)) return { file: name, how: how(text, untouched) };
  if (now !== undefined && !isSameBut(now, text ?? undefined, entries, dialect)) {
    // Somebody wrote into it at this moment: what they wrote stays.
    const theirs = restored(now, kept, dialect);
    if (theirs !== null && typeof theirs === 'object')
      return { file: name, how: 'left', why: `it cannot be read: ${sayWhere(name, theirs)}` };
    writeSettingsFile(file, theirs ?? undefined);
    return { file: name, how: 'ours_removed' };
  }
  writeSettingsFile(file, text ?? undefined);
  return { file: name, how: how(text, untouched) };
}

const how = (text: string | null, untouched: boolean): FileResult['how'] =>
  text === null ? 'removed' : untouched ? 'as_before' : 'ours_removed';

function keepTeams(file: string, text: string, entries: readonly Entry[]): void {
  const now = readSettingsFile(file);
  if (now !== text && isSameBut(now, text, entries, dialect)) writeSettingsFile(file, text);
}
