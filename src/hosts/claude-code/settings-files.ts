import { join, relative } from 'node:path';
import type { SetupContext, SetupRefusal } from '../../runtime/index.ts';
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
import { quoted } from './program.ts';

/** Seen in 2.1.325: a file with a comment in it is not loaded at all. */
export const dialect = 'json';

export interface SettingsFiles {
  user: string;
  project: string;
  local: string;
}

/** The later ones win. */
export const settingsFiles = ({ root, home, env }: SetupContext): SettingsFiles => ({
  user: join(env.CLAUDE_CONFIG_DIR || join(home, '.claude'), 'settings.json'),
  project: join(root, '.claude', 'settings.json'),
  local: join(root, '.claude', 'settings.local.json'),
});

/** Why the host could not write this file, said before it tries. */
export function notWritable(file: string, place: SetupContext): SetupRefusal | undefined {
  const name = shownFile(file, place);
  if (isLink(file))
    return {
      code: 'settings_link',
      message: `${name} is a symbolic link, and Claude Code writes through none.`,
      next: 'put a file in its place, then: stepfast init',
    };
  const document = readDocument(readSettingsFile(file) ?? '', dialect);
  if (!isRefusal(document)) return undefined;
  return {
    code: 'settings_broken',
    message: `Claude Code takes nothing from ${sayWhere(name, document)}. So the plugin cannot be switched on there.`,
    next: 'mend that file, then: stepfast init',
  };
}

export const sayWhere = (name: string, { line, column, problem }: SettingsRefusal): string =>
  `${name}, line ${line}, column ${column}: ${problem}`;

/** Within the project as seen from there, else in full. */
export function shownFile(file: string, { root }: Pick<SetupContext, 'root'>): string {
  const inside = relative(root, file);
  return inside.startsWith('..') ? file : inside.replaceAll('\\', '/');
}

/** A setting's value, and undefined also where the file cannot be read. */
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

/** All that may be ours in a settings file; the status line only as we write it. */
export const ourEntries = (plugin: string): Entry[] => [
  { kind: 'value', path: ['extraKnownMarketplaces', marketplace], value: true, named: true },
  { kind: 'value', path: ['enabledPlugins', pluginId], value: true, named: true },
  statuslineOf(plugin),
];

export const statuslineOf = (plugin: string): Entry => ({
  kind: 'value',
  path: ['statusLine'],
  value: { type: 'command', command: `node ${quoted(join(plugin, 'dist', 'statusline.cjs'))}` },
});
