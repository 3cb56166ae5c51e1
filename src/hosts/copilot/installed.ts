import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { commandName } from '../../command-name.ts';
import type { FoundHost, SetupContext, SetupRefusal } from '../../runtime/index.ts';
import { isPayload, type Payload, textIn } from '../payload.ts';
import { ask, findProgram, quoted, type Ran } from '../program.ts';
import type { Entry } from '../settings/index.ts';

/** As a person types it. */
export const programName = 'copilot';
export const pluginId = 'stepfast@stepfast';
export const marketplace = 'stepfast';
/** As of 1.0.102 the host reads comments, and drops them when it writes. */
export const dialect = 'jsonc';

export const findCopilot = async (
  context: Pick<SetupContext, 'env' | 'root'>,
): Promise<FoundHost | undefined> => await findProgram(programName, context);

export const homeOf = ({ env, home }: Pick<SetupContext, 'env' | 'home'>): string =>
  env.COPILOT_HOME || join(home, '.copilot');

/** The only file that an installation changes. It is the user's, so one installation is for all projects. */
export const settingsFile = (context: Pick<SetupContext, 'env' | 'home'>): string =>
  join(homeOf(context), 'settings.json');

export const ourEntries: readonly Entry[] = [
  { kind: 'value', path: ['extraKnownMarketplaces', marketplace], value: true, named: true },
  { kind: 'value', path: ['enabledPlugins', pluginId], value: true, named: true },
];

/** What the host reports about Stepfast's plugin. */
export interface Installed {
  /** The folder of its marketplace; '' if it is not a folder. */
  marketplace: string | undefined;
  plugin: { version: string | undefined; enabled: boolean; folder: string | undefined } | undefined;
}

/** From the host's own commands; undefined if they fail. */
export async function lookInstalled(
  { program }: FoundHost,
  context: SetupContext,
): Promise<Installed | undefined> {
  const plugins = await list(program, ['plugin', 'list', '--json'], context);
  const markets = await list(program, ['plugin', 'marketplace', 'list', '--json'], context);
  if (!plugins || !markets) return undefined;
  const market = markets.find(({ name }) => name === marketplace);
  const plugin = plugins.find((each) => each.name === 'stepfast' && each.marketplace === marketplace);
  return {
    marketplace: market && (/^Local: (.*)$/s.exec(textIn(market, 'source') ?? '')?.[1] ?? ''),
    plugin: plugin && {
      version: textIn(plugin, 'version'),
      enabled: plugin.enabled === true,
      folder: textIn(plugin, 'installedFrom'),
    },
  };
}

async function list(
  program: string,
  args: readonly string[],
  context: SetupContext,
): Promise<Payload[] | undefined> {
  const { code, stdout } = await ask(program, args, context);
  if (code !== 0) return undefined;
  try {
    const value: unknown = JSON.parse(stdout);
    return Array.isArray(value) ? value.filter(isPayload) : undefined;
  } catch {
    return undefined;
  }
}

export const noList = ({ version }: FoundHost, command: 'init' | 'uninstall'): SetupRefusal => ({
  code: 'host_failed',
  message: `'copilot plugin list --json' gave no list${version === undefined ? '' : `, in version ${version}`}.`,
  next: `update Copilot CLI (copilot update), then: ${commandName()} ${command}`,
});

export const typedCommand = (args: readonly string[]): string => [programName, ...args.map(quoted)].join(' ');

export function hostFailed(
  args: readonly string[],
  { code, stdout, stderr }: Ran,
  command: 'init' | 'uninstall',
): SetupRefusal {
  const lines = `${stdout}\n${stderr}`.split('\n').filter((line) => line.trim() !== '');
  const said = lines.slice(-3).join('\n  ');
  return {
    code: 'host_failed',
    message: `'${typedCommand(args)}' failed (exit ${code})${said === '' ? '.' : `:\n  ${said}`}\nThe settings are as before.`,
    next: `fix the problem it reports, then: ${commandName()} ${command}`,
  };
}

export function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
