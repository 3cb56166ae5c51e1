import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { commandName } from '../../command-name.ts';
import type { FoundHost, SetupContext, SetupRefusal } from '../../runtime/index.ts';
import { isPayload, type Payload, partIn, textIn } from '../payload.ts';
import { ask } from '../program.ts';

export const pluginId = 'stepfast@stepfast';
export const marketplace = 'stepfast';

/** What Codex reports about Stepfast's plugin, which is one for all projects of a user. */
export interface Installed {
  /** The folder of its marketplace. */
  marketplace: string | undefined;
  plugin: { version: string | undefined; enabled: boolean } | undefined;
}

export const configFile = ({ env, home }: SetupContext): string =>
  join(env.CODEX_HOME || join(home, '.codex'), 'config.toml');

/** From its own commands; undefined if they fail. */
export async function lookInstalled(
  { program }: FoundHost,
  context: SetupContext,
): Promise<Installed | undefined> {
  const [plugins, markets] = await Promise.all([
    listed(['plugin', 'list', '--json'], 'installed'),
    listed(['plugin', 'marketplace', 'list', '--json'], 'marketplaces'),
  ]);
  if (!plugins || !markets) return undefined;
  const plugin = plugins.find((each) => textIn(each, 'pluginId') === pluginId);
  const market = markets.find((each) => textIn(each, 'name') === marketplace);
  return {
    marketplace: market && (textIn(market, 'root') ?? textIn(partIn(market, 'marketplaceSource'), 'source')),
    plugin: plugin && { version: textIn(plugin, 'version'), enabled: plugin.enabled !== false },
  };

  async function listed(args: readonly string[], key: string): Promise<Payload[] | undefined> {
    const { code, stdout } = await ask(program, args, context);
    if (code !== 0) return undefined;
    try {
      const list: unknown = JSON.parse(stdout)[key];
      return Array.isArray(list) ? list.filter(isPayload) : undefined;
    } catch {
      return undefined;
    }
  }
}

export const noList = ({ version = 'This version' }: FoundHost, command: string): SetupRefusal => ({
  code: 'host_failed',
  message: `'codex plugin list --json' printed no list. ${version} may be too old, or its settings are broken.`,
  next: `run 'codex plugin list', update Codex if it fails, then: ${commandName()} ${command}`,
});

/** Also for a path that does not exist. */
export function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
