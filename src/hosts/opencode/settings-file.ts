import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { SetupContext } from '../../runtime/index.ts';
import type { Entry } from '../settings/index.ts';

/** OpenCode reads comments in both of its files. */
export const dialect = 'jsonc';

/** Of the project, and OpenCode reads both. */
export const settingsFiles = ({ root }: Pick<SetupContext, 'root'>): string[] =>
  ['opencode.jsonc', 'opencode.json'].map((name) => join(root, name));

/** The one that the person has; of two the one that takes precedence. */
export const settingsFile = (context: Pick<SetupContext, 'root'>): string =>
  settingsFiles(context).find((file) => existsSync(file)) ?? join(context.root, 'opencode.json');

export const pluginFile = (plugin: string): string => join(plugin, 'dist', 'opencode-plugin.js');

export const pluginEntry = (plugin: string): Entry => ({
  kind: 'item',
  path: ['plugin'],
  value: pathToFileURL(pluginFile(plugin)).href,
});

export const serverEntry = (plugin: string): Entry => ({
  kind: 'value',
  path: ['mcp', 'stepfast'],
  named: true,
  value: { type: 'local', command: ['node', join(plugin, 'dist', 'cli.js'), 'mcp'], enabled: true },
});

export const ourEntries = (plugin: string): Entry[] => [pluginEntry(plugin), serverEntry(plugin)];

/** OpenCode adds it to a file that has none. */
export const schemaEntry: Entry = {
  kind: 'value',
  path: ['$schema'],
  value: 'https://opencode.ai/config.json',
};
