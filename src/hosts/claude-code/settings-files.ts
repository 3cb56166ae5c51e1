import { join, relative } from 'node:path';
import { commandName } from '../../command-name.ts';
import type { SetupContext, SetupRefusal } from '../../runtime/index.ts';
import { quoted } from '../program.ts';
import {
  type Entry,
  isJsonObject,
  isLink,
  isRefusal,
  type Json,
  readDocument,
  readSettingsFile,
  type SettingsRefusal,
} from '../settings/index.ts';
import { marketplace, pluginId } from './installed.ts';

/** As of 2.1.325, a file with a comment is not loaded at all. */
export const dialect = 'json';

export interface SettingsFiles {
  user: string;
  project: string;
  local: string;
}

/** Later ones take precedence. */
export const settingsFiles = ({ root, home, env }: SetupContext): SettingsFiles => ({
  user: join(env.CLAUDE_CONFIG_DIR || join(home, '.claude'), 'settings.json'),
  project: join(root, '.claude', 'settings.json'),
  local: join(root, '.claude', 'settings.local.json'),
});

/** Why the host could not write this file, checked before it tries. */
export function notWritable(file: string, context: SetupContext): SetupRefusal | undefined {
  const name = shownFile(file, context);
  if (isLink(file))
    return {
      code: 'settings_link',
      message: `${name} is a symbolic link, and Claude Code writes through none.`,
      next: `replace it with a file, then: ${commandName()} init`,
    };
  const document = readDocument(readSettingsFile(file) ?? '', dialect);
  if (!isRefusal(document)) return undefined;
  return {
    code: 'settings_broken',
    message: `Claude Code ignores ${describeError(name, document)}, so the plugin cannot be enabled there.`,
    next: `fix that file, then: ${commandName()} init`,
  };
}

export const describeError = (name: string, { line, column, problem }: SettingsRefusal): string =>
  `${name}, line ${line}, column ${column}: ${problem}`;

/** Relative within the project, else absolute. */
export function shownFile(file: string, { root }: Pick<SetupContext, 'root'>): string {
  const inside = relative(root, file);
  return inside.startsWith('..') ? file : inside.replaceAll('\\', '/');
}

/** The value of a setting; undefined if the file cannot be read. */
export function settingIn(file: string, key: string): Json | undefined {
  try {
    const document = readDocument(readSettingsFile(file) ?? '', dialect);
    if (isRefusal(document)) return undefined;
    const { value } = document;
    return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  } catch {
    return undefined;
  }
}

/** Every entry that may be ours; the status line only as we write it. */
export const ourEntries = (plugin: string): Entry[] => [
  { kind: 'value', path: ['extraKnownMarketplaces', marketplace], value: true, named: true },
  { kind: 'value', path: ['enabledPlugins', pluginId], value: true, named: true },
  statuslineOf(plugin),
];

export const statuslineOf = (plugin: string): Entry => ({
  kind: 'value',
  path: ['statusLine'],
  // Gates end after the host has drawn the line.
  value: {
    type: 'command',
    command: `node ${quoted(join(plugin, 'dist', 'statusline.cjs'))}`,
    refreshInterval: 5,
  },
});
