import { realpathSync } from 'node:fs';
import { commandName } from '../../command-name.ts';
import type { FoundHost, SetupContext, SetupRefusal } from '../../runtime/index.ts';
import { isPayload, textIn } from '../payload.ts';
import { ask } from '../program.ts';

export const pluginId = 'stepfast@stepfast';
export const marketplace = 'stepfast';

export type Scope = 'user' | 'project' | 'local';

export interface InstalledPlugin {
  scope: Scope;
  version: string | undefined;
  enabled: boolean;
  /** The directory that it is loaded from. */
  folder: string | undefined;
}

/** What the host reports about Stepfast's plugin. */
export interface Installed {
  /** The folder of its marketplace; '' if it is not a folder. */
  marketplace: string | undefined;
  here: InstalledPlugin[];
  /** In other projects. */
  elsewhere: number;
}

/** From the host's own commands; undefined if they fail. */
export async function lookInstalled(
  { program }: FoundHost,
  context: SetupContext,
): Promise<Installed | undefined> {
  const [plugins, markets] = await Promise.all([
    list(program, ['plugin', 'list', '--json'], context),
    list(program, ['plugin', 'marketplace', 'list', '--json'], context),
  ]);
  if (!plugins || !markets) return undefined;
  const ours = plugins.filter((each) => isPayload(each) && each.id === pluginId).filter(isPayload);
  const market = markets.filter(isPayload).find(({ name }) => name === marketplace);
  const here = ours.filter((each) => {
    const project = textIn(each, 'projectPath');
    return project === undefined || real(project) === real(context.root);
  });
  return {
    marketplace: market && (textIn(market, 'path') ?? ''),
    here: here.map((each) => ({
      scope: scopeOf(each.scope),
      version: textIn(each, 'folderVersion') ?? textIn(each, 'version'),
      enabled: each.enabled === true,
      folder: textIn(each, 'readFromFolder') ?? textIn(each, 'installPath'),
    })),
    elsewhere: ours.length - here.length,
  };
}

/** Draws no conclusion: other projects may have the plugin. */
export const noList = ({ version }: FoundHost, command: 'init' | 'uninstall'): SetupRefusal => ({
  code: 'host_failed',
  message: `'claude plugin list --json' gave no list${version === undefined ? '' : `, in version ${version}`}.`,
  next: `update Claude Code (claude update), then: ${commandName()} ${command}`,
});

const scopeOf = (scope: unknown): Scope => (scope === 'local' || scope === 'project' ? scope : 'user');

async function list(
  program: string,
  args: readonly string[],
  context: SetupContext,
): Promise<unknown[] | undefined> {
  const { code, stdout } = await ask(program, args, context);
  if (code !== 0) return undefined;
  try {
    const value: unknown = JSON.parse(stdout);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
