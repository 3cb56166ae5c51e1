import { commandName } from '../../command-name.ts';
import type { FoundHost, SetupContext, SetupOptions, SetupPlan, SetupRefusal } from '../../runtime/index.ts';
import { ask, quoted, type Ran } from '../program.ts';
import { otherLedgers, readLedger, readSettingsFile, removeLedger, writeLedger } from '../settings/index.ts';
import {
  configFile,
  type Installed,
  lookInstalled,
  marketplace,
  noList,
  pluginId,
  real,
} from './installed.ts';
import { hostName } from './parse-payload.ts';
import { isWritten, pluginFolder, writePlugin } from './plugin-folder.ts';

const trustNote =
  'At its next start Codex asks whether its new hooks may run. Trust them: it skips the others without a word.';

export async function planInstall(
  found: FoundHost,
  context: SetupContext,
  options: SetupOptions,
): Promise<SetupPlan | SetupRefusal> {
  const { plugin, version, team } = options;
  const known = await lookInstalled(found, context);
  if (!known) return noList(found, 'init');
  const folder = pluginFolder(plugin);
  if (known.marketplace !== undefined && real(known.marketplace) !== real(folder))
    return {
      code: 'other_marketplace',
      message: `Codex has another marketplace named '${marketplace}', at ${known.marketplace}.`,
      next: `codex plugin marketplace remove ${marketplace}, then: ${commandName()} init`,
    };
  const isCurrent = isWritten(plugin, version);
  const commands: string[][] = [];
  if (known.marketplace === undefined) commands.push(['plugin', 'marketplace', 'add', folder]);
  if (!known.plugin || known.plugin.version !== version || !isCurrent)
    commands.push(['plugin', 'add', pluginId]);
  const isRecorded = readLedger(context.state, hostName, real(context.root)) !== undefined;
  return {
    commands: commands.map((args) => ['codex', ...args.map(quoted)].join(' ')),
    edits: [
      ...(isCurrent ? [] : [{ file: folder, what: 'hooks, tools and a skill for Codex' }]),
      ...(isRecorded || commands.length > 0
        ? []
        : [{ file: configFile(context), what: 'recorded: this project uses the plugin' }]),
    ],
    notes: [
      ...(commands.length > 0 ? ['The plugin is for all your projects; it acts where a run is live.'] : []),
      ...(commands.length > 0 ? [trustNote] : []),
      ...(known.plugin?.enabled === false
        ? ['The plugin is disabled: enable it in Codex with /plugins']
        : []),
      ...(team ? ['Codex installs plugins for one user: each member of the team runs init.'] : []),
    ],
    perform: () => install(found, context, options, { commands, known }),
  };
}

async function install(
  found: FoundHost,
  context: SetupContext,
  { plugin, version }: SetupOptions,
  { commands, known }: { commands: readonly string[][]; known: Installed },
): Promise<SetupRefusal | undefined> {
  const root = real(context.root);
  const path = configFile(context);
  const earlier = [
    readLedger(context.state, hostName, root),
    ...otherLedgers(context.state, hostName, root),
  ].find((ledger) => ledger !== undefined);
  // The first installation has seen the file without the plugin.
  const before =
    earlier && known.plugin
      ? (earlier.files.find((file) => file.path === path)?.before ?? null)
      : readSettingsFile(path);
  writePlugin(plugin, version);
  writeLedger(context.state, {
    version: 2,
    host: hostName,
    root,
    files: [{ path, before, entries: [] }],
    folders: [],
  });
  for (const args of commands) {
    const ran = await ask(found.program, args, context);
    if (ran.code === 0) continue;
    if (known.marketplace === undefined)
      await ask(found.program, ['plugin', 'marketplace', 'remove', marketplace], context);
    removeLedger(context.state, hostName, root);
    return failed(args, ran);
  }
  const now = await lookInstalled(found, context);
  if (now?.plugin) return undefined;
  return failed(commands.at(-1) ?? [], { code: 0, stdout: 'It is not in the list of plugins.', stderr: '' });
}

export function failed(args: readonly string[], { stdout, stderr, code }: Ran): SetupRefusal {
  const lines = `${stdout}\n${stderr}`.split('\n').filter((line) => line.trim() !== '');
  const said = lines.slice(-3).join('\n  ');
  const command = ['codex', ...args.map(quoted)].join(' ');
  return {
    code: 'host_failed',
    message: `'${command}' failed (exit ${code})${said === '' ? '.' : `:\n  ${said}`}`,
    next: `fix the problem it reports, then: ${commandName()} init`,
  };
}
