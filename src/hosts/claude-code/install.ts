import { existsSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  type FoundHost,
  isSetupRefusal,
  type SetupOptions,
  type SetupPlace,
  type SetupPlan,
  type SetupRefusal,
} from '../../runtime/index.ts';
import {
  type Entry,
  isRefusal,
  type KeptFile,
  merge,
  readLedger,
  readSettingsFile,
  remember,
  writeLedger,
  writeSettingsFile,
} from '../settings/index.ts';
import { type Installed, lookInstalled, marketplace, pluginId, real } from './installed.ts';
import { hostName } from './parse.ts';
import { ask, type Ran } from './program.ts';
import {
  asTyped,
  dialect,
  isTree,
  notWritable,
  ourEntries,
  settingIn,
  settingsFiles,
  shownFile,
} from './settings-files.ts';

interface Intent {
  commands: string[][];
  statusline: Entry | undefined;
  /** Files that the host or we write into. */
  files: string[];
  known: Installed;
  notes: string[];
}

export async function planInstall(
  found: FoundHost,
  place: SetupPlace,
  options: SetupOptions,
): Promise<SetupPlan | SetupRefusal> {
  const intent = await intend(found, place, options);
  if (isSetupRefusal(intent)) return intent;
  const { commands, statusline, notes } = intent;
  const line = 'a status line: the run, its step, the last check, how full the context is';
  return {
    commands: commands.map((args) => ['claude', ...args.map(quoted)].join(' ')),
    edits: statusline ? [{ file: shownFile(settingsFiles(place).local, place), what: line }] : [],
    notes,
    perform: () => install(found, place, intent),
  };
}

async function install(
  found: FoundHost,
  place: SetupPlace,
  intent: Intent,
): Promise<SetupRefusal | undefined> {
  const folder = join(place.root, '.claude');
  const hadFolder = existsSync(folder);
  const before = new Map(intent.files.map((file) => [file, readSettingsFile(file)]));
  for (const args of intent.commands) {
    const ran = await ask(found.program, args, place);
    if (ran.code === 0) continue;
    await undo();
    return failed(args, ran);
  }
  const kept = intent.files.flatMap((file) => settle(file) ?? []);
  const ledger = readLedger(place.state, hostName, real(place.root));
  const others = ledger?.files.filter(({ path }) => !kept.some((each) => each.path === path)) ?? [];
  writeLedger(place.state, {
    version: 1,
    host: hostName,
    root: real(place.root),
    files: [...others, ...kept],
    folders: ledger?.folders ?? (hadFolder ? [] : [folder]),
  });
  return undefined;

  /** The host's change and ours, in the file as it was typed. */
  function settle(path: string): KeptFile | undefined {
    const start = before.get(path);
    const written = readSettingsFile(path);
    const typed = start === undefined || written === undefined ? undefined : asTyped(start, written);
    const host = typed ?? written;
    const own = intent.statusline && path === settingsFiles(place).local ? [intent.statusline] : [];
    const entries = [...ourEntries(host ?? ''), ...own];
    if (entries.length === 0) return undefined;
    // `found` tells what was there before all of this, so it is asked of the file as it was.
    const whole = merge(start, entries, dialect);
    const merged = merge(host, entries, dialect);
    if (isRefusal(merged) || isRefusal(whole)) return undefined;
    if (merged.text !== written) writeSettingsFile(path, merged.text);
    const known = readLedger(place.state, hostName, real(place.root))?.files.find(
      (each) => each.path === path,
    );
    return remember(known, { path, start, end: merged.text, added: whole.added }, dialect);
  }

  /** A marketplace stays known even where adding it failed. */
  async function undo(): Promise<void> {
    if (intent.known.marketplace === undefined)
      await ask(found.program, ['plugin', 'marketplace', 'remove', marketplace], place);
    for (const [file, text] of before) if (readSettingsFile(file) !== text) writeSettingsFile(file, text);
    if (!hadFolder) removeIfEmpty(folder);
  }
}

async function intend(
  found: FoundHost,
  place: SetupPlace,
  { team, plugin, version }: SetupOptions,
): Promise<Intent | SetupRefusal> {
  const { user, project, local } = settingsFiles(place);
  const files = team ? [local, project] : [local];
  for (const file of files) {
    const refusal = notWritable(file, place);
    if (refusal) return refusal;
  }
  const known = await lookInstalled(found, place);
  if (!known)
    return {
      code: 'host_failed',
      message: `'claude plugin list --json' gave no list${found.version === undefined ? '' : `, in version ${found.version}`}.`,
      next: 'update Claude Code (claude update), then: stepfast init',
    };
  if (known.marketplace !== undefined && real(known.marketplace) !== real(plugin))
    return {
      code: 'other_marketplace',
      message: `Claude Code has another marketplace named '${marketplace}'${known.marketplace && `, at ${known.marketplace}`}.`,
      next: `claude plugin marketplace remove ${marketplace}, then: stepfast init`,
    };
  const scope = team ? 'project' : 'local';
  const mine = known.here.find((each) => each.scope === scope);
  const declared = settingIn(local, 'extraKnownMarketplaces');
  const isDeclared = isTree(declared) && Object.hasOwn(declared, marketplace);
  const commands: string[][] = [];
  if (known.marketplace === undefined || !isDeclared)
    commands.push(['plugin', 'marketplace', 'add', plugin, '--scope', 'local']);
  if (!mine) commands.push(['plugin', 'install', pluginId, '--scope', scope]);
  else if (mine.version !== version) commands.push(['plugin', 'update', pluginId, '--scope', scope]);
  const notes =
    mine?.enabled === false ? [`The plugin is switched off: claude plugin enable ${pluginId}`] : [];
  const statusline: Entry = {
    kind: 'value',
    path: ['statusLine'],
    value: { type: 'command', command: `node ${quoted(join(plugin, 'dist', 'statusline.cjs'))}` },
  };
  const taken = [user, project, local].find((file) => settingIn(file, 'statusLine') !== undefined);
  const isOurs = taken === local && isStatusline(settingIn(local, 'statusLine'));
  if (taken !== undefined && !isOurs)
    notes.push(`Your status line stays as it is (${shownFile(taken, place)}).`);
  return { commands, statusline: taken === undefined ? statusline : undefined, files, known, notes };
}

const isStatusline = (value: unknown): boolean =>
  /stepfast\b.*\bstatusline\b/.test(JSON.stringify(value) ?? '');

function failed(args: readonly string[], { stdout, stderr, code }: Ran): SetupRefusal {
  const lines = `${stdout}\n${stderr}`.split('\n').filter((line) => line.trim() !== '');
  const said = lines.slice(-3).join('\n  ');
  const command = ['claude', ...args.map(quoted)].join(' ');
  return {
    code: 'host_failed',
    message: `'${command}' failed (exit ${code})${said === '' ? '.' : `:\n  ${said}`}\nWhat it had begun was taken back.`,
    next: 'mend what it says, then: stepfast init',
  };
}

/** For a shell, where it needs that. */
export const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

export function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // It is in use, or gone.
  }
}
