import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { skillText } from '../skill.ts';
import { pluginHooks } from './plugin-hooks.ts';

/** Beside the copies of the package. */
export const pluginFolder = (plugin: string): string => join(dirname(plugin), 'codex');

/** Variables that the server needs: Codex gives it few others. */
const variables = ['XDG_STATE_HOME', 'XDG_CACHE_HOME', 'STEPFAST_DIR'];

export const serverFor = (command: readonly string[]): object => {
  const [program = '', ...args] = command;
  return { command: program, args: [...args, 'mcp', '--tools-only'], env_vars: variables };
};

/**
 * The plugin for Codex, with absolute paths: Codex expands no variable in the arguments of a server. `plugin`: the
 * stable folder of the package.
 */
function filesOf(plugin: string, version: string): Record<string, string> {
  const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;
  return {
    '.agents/plugins/marketplace.json': json({
      name: 'stepfast',
      plugins: [{ name: 'stepfast', source: './' }],
    }),
    '.codex-plugin/plugin.json': json({
      name: 'stepfast',
      version,
      description:
        'Keeps long work on course: the engine holds the position, runs the checks and remembers through compactions.',
      hooks: './hooks/codex.json',
      skills: './skills',
      mcpServers: { stepfast: serverFor(['node', join(plugin, 'dist', 'cli.js')]) },
    }),
    'hooks/codex.json': json({ hooks: pluginHooks(plugin) }),
    'skills/stepfast/SKILL.md': skillText('$stepfast'),
  };
}

export function isWritten(plugin: string, version: string): boolean {
  return Object.entries(filesOf(plugin, version)).every(([name, text]) => {
    try {
      return readFileSync(join(pluginFolder(plugin), name), 'utf8') === text;
    } catch {
      return false;
    }
  });
}

export function writePlugin(plugin: string, version: string): void {
  const folder = pluginFolder(plugin);
  for (const [name, text] of Object.entries(filesOf(plugin, version))) {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

export const removePlugin = (plugin: string): void =>
  rmSync(pluginFolder(plugin), { recursive: true, force: true });
