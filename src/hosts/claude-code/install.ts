import { commandName } from '../../command-name.ts';
import {
  type FoundHost,
  isSetupRefusal,
  type SetupContext,
  type SetupOptions,
  type SetupPlan,
  type SetupRefusal,
} from '../../runtime/index.ts';
import { ask, quoted, type Ran } from '../program.ts';
import { isJsonObject } from '../settings/index.ts';
import { type Installed, lookInstalled, marketplace, noList, pluginId, real } from './installed.ts';
import { openRecords, type Writing } from './records.ts';
import { notWritable, settingIn, settingsFiles, shownFile, statuslineOf } from './settings-files.ts';

interface Intent extends Writing {
  commands: string[][];
  known: Installed;
  notes: string[];
}

export async function planInstall(
  found: FoundHost,
  context: SetupContext,
  options: SetupOptions,
): Promise<SetupPlan | SetupRefusal> {
  const intent = await intend(found, context, options);
  if (isSetupRefusal(intent)) return intent;
  const { commands, wanted, notes } = intent;
  const line = 'a status line: the run, its step, the last gate, context usage';
  return {
    commands: commands.map((args) => ['claude', ...args.map(quoted)].join(' ')),
    edits: wanted.length > 0 ? [{ file: shownFile(settingsFiles(context).local, context), what: line }] : [],
    notes,
    perform: () => install(found, context, intent),
  };
}

async function install(
  found: FoundHost,
  context: SetupContext,
  intent: Intent,
): Promise<SetupRefusal | undefined> {
  const records = openRecords(context, intent);
  records.begin();
  for (const args of intent.commands) {
    const ran = await ask(found.program, args, context);
    if (ran.code === 0) continue;
    // A marketplace stays registered even if adding it failed.
    if (intent.known.marketplace === undefined)
      await ask(found.program, ['plugin', 'marketplace', 'remove', marketplace], context);
    records.undo();
    return failed(args, ran);
  }
  records.settle();
  return undefined;
}

async function intend(
  found: FoundHost,
  context: SetupContext,
  { team, plugin, version }: SetupOptions,
): Promise<Intent | SetupRefusal> {
  const { user, project, local } = settingsFiles(context);
  const files = team ? [local, project] : [local];
  for (const file of files) {
    const refusal = notWritable(file, context);
    if (refusal) return refusal;
  }
  const known = await lookInstalled(found, context);
  if (!known) return noList(found, 'init');
  if (known.marketplace !== undefined && real(known.marketplace) !== real(plugin))
    return {
      code: 'other_marketplace',
      message: `Claude Code has another marketplace named '${marketplace}'${known.marketplace && `, at ${known.marketplace}`}.`,
      next: `claude plugin marketplace remove ${marketplace}, then: ${commandName()} init`,
    };
  const scope = team ? 'project' : 'local';
  const mine = known.here.find((each) => each.scope === scope);
  const declared = settingIn(local, 'extraKnownMarketplaces');
  const isDeclared = isJsonObject(declared) && Object.hasOwn(declared, marketplace);
  const commands: string[][] = [];
  if (known.marketplace === undefined || !isDeclared)
    commands.push(['plugin', 'marketplace', 'add', plugin, '--scope', 'local']);
  if (!mine) commands.push(['plugin', 'install', pluginId, '--scope', scope]);
  else if (mine.version !== version) commands.push(['plugin', 'update', pluginId, '--scope', scope]);
  const notes =
    mine?.enabled === false ? [`The plugin is disabled. Enable it: claude plugin enable ${pluginId}`] : [];
  const taken = [user, project, local].find((file) => settingIn(file, 'statusLine') !== undefined);
  const isOurs = taken === local && isStatusline(settingIn(local, 'statusLine'));
  if (taken !== undefined && !isOurs)
    notes.push(`Your status line is unchanged (${shownFile(taken, context)}).`);
  const wanted = taken === undefined ? [statuslineOf(plugin)] : [];
  return { commands, wanted, plugin, files, known, notes };
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
    next: `fix the problem it reports, then: ${commandName()} init`,
  };
}
