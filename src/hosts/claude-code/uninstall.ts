import type { FoundHost, SetupPlace, SetupRefusal, Uninstalled } from '../../runtime/index.ts';
import {
  isRefusal,
  type Json,
  type KeptFile,
  merge,
  readDocument,
  readLedger,
  readSettingsFile,
  removeLedger,
  restored,
  sameJson,
  writeSettingsFile,
} from '../settings/index.ts';
import { quoted, removeIfEmpty } from './install.ts';
import { lookInstalled, marketplace, pluginId, real } from './installed.ts';
import { hostName } from './parse.ts';
import { ask } from './program.ts';
import {
  dialect,
  isTree,
  ourEntries,
  sayWhere,
  settingsFiles,
  shownFile,
  withoutEmpty,
} from './settings-files.ts';

type FileResult = Uninstalled['files'][number];

/** First the host's own commands, then each settings file as its owner had it. */
export async function uninstall(
  found: FoundHost | undefined,
  place: SetupPlace,
): Promise<Uninstalled | SetupRefusal> {
  const root = real(place.root);
  const ledger = readLedger(place.state, hostName, root);
  const { local, project } = settingsFiles(place);
  const targets = [local, project].flatMap((file) => targetFor(file, ledger?.files) ?? []);
  const known = found && (await lookInstalled(found, place));
  const commands: string[][] = [
    ...(known?.here ?? []).map(({ scope }) => ['plugin', 'uninstall', pluginId, '--scope', scope]),
    // To remove it takes the plugin from every project.
    ...(known?.marketplace !== undefined && known.elsewhere === 0
      ? [['plugin', 'marketplace', 'remove', marketplace]]
      : []),
  ];
  for (const args of commands) {
    const { code, stdout, stderr } = await ask(found?.program ?? '', args, place);
    if (code === 0) continue;
    const said = `${stdout}\n${stderr}`.trim().split('\n').slice(-3).join('\n  ');
    return {
      code: 'host_failed',
      message: `'claude ${args.map(quoted).join(' ')}' failed (exit ${code}):\n  ${said}`,
      next: 'mend what it says, then: stepfast uninstall',
    };
  }
  const files = targets.map((target) => putBack(target, place));
  for (const folder of ledger?.folders ?? []) removeIfEmpty(folder);
  if (files.every(({ how }) => how !== 'left')) removeLedger(place.state, hostName, root);
  return {
    commands: commands.map((args) => ['claude', ...args.map(quoted)].join(' ')),
    files,
    used: (known?.elsewhere ?? 0) > 0,
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
function targetFor(file: string, known: readonly KeptFile[] | undefined): Target | undefined {
  const now = readSettingsFile(file);
  if (now === undefined) return undefined;
  const kept = known?.find(({ path }) => path === file) ?? withoutLedger(file, now);
  if (!kept) return undefined;
  return { file, kept, text: restored(now, kept, dialect), untouched: now === kept.after };
}

/** Installed by hand, or the record is lost: what has our name is ours. */
function withoutLedger(path: string, now: string): KeptFile | undefined {
  const entries = ourEntries(now);
  const merged = entries.length === 0 ? undefined : merge(undefined, entries, dialect);
  if (!merged || isRefusal(merged)) return undefined;
  return { path, before: now, after: '', added: merged.added };
}

function putBack({ file, kept, text, untouched }: Target, place: SetupPlace): FileResult {
  const name = shownFile(file, place);
  if (text !== null && typeof text === 'object')
    return { file: name, how: 'left', why: `it cannot be read: ${sayWhere(name, text)}` };
  const now = readSettingsFile(file);
  if (now === text || (now === undefined && text === null)) return { file: name, how: how(text, untouched) };
  if (now !== undefined && !isAs(now, text)) {
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

/** The same settings, however they are written; what is ours may still be in them. */
function isAs(now: string, text: string | null): boolean {
  const [one, other] = [readDocument(now, dialect), readDocument(text ?? '', dialect)];
  if (isRefusal(one) || isRefusal(other)) return false;
  const [rest, wanted] = [one, other].map(({ value }) => withoutLine(withoutEmpty(value)));
  return sameJson(rest, wanted);
}

function withoutLine(value: Json): Json {
  return isTree(value)
    ? Object.fromEntries(Object.entries(value).filter(([key]) => key !== 'statusLine'))
    : value;
}
