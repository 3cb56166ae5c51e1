import { join, relative } from 'node:path';
import type { SetupPlace, SetupRefusal } from '../../runtime/index.ts';
import {
  type Entry,
  isLink,
  isRefusal,
  type Json,
  merge,
  readDocument,
  readSettingsFile,
  type SettingsRefusal,
  sameJson,
} from '../settings/index.ts';
import { marketplace, pluginId } from './installed.ts';

/** Seen in 2.1.325: a file with a comment in it is not loaded at all. */
export const dialect = 'json';

export interface SettingsFiles {
  user: string;
  project: string;
  local: string;
}

/** The later ones win. */
export const settingsFiles = ({ root, home, env }: SetupPlace): SettingsFiles => ({
  user: join(env.CLAUDE_CONFIG_DIR || join(home, '.claude'), 'settings.json'),
  project: join(root, '.claude', 'settings.json'),
  local: join(root, '.claude', 'settings.local.json'),
});

/** Why the host could not write this file, said before it tries. */
export function notWritable(file: string, place: SetupPlace): SetupRefusal | undefined {
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
export function shownFile(file: string, { root }: Pick<SetupPlace, 'root'>): string {
  const inside = relative(root, file);
  return inside.startsWith('..') ? file : inside.replaceAll('\\', '/');
}

/** A setting's value, and undefined also where the file cannot be read. */
export function settingIn(file: string, key: string): Json | undefined {
  try {
    const document = readDocument(readSettingsFile(file) ?? '', dialect);
    if (isRefusal(document)) return undefined;
    const { value } = document;
    return isTree(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  } catch {
    return undefined;
  }
}

/** What the host wrote of ours. */
export function ourEntries(text: string): Entry[] {
  const document = readDocument(text, dialect);
  if (isRefusal(document)) return [];
  return [['extraKnownMarketplaces', marketplace] as const, ['enabledPlugins', pluginId] as const].flatMap(
    (path): Entry[] => {
      const outer = isTree(document.value) ? document.value[path[0]] : undefined;
      const value = isTree(outer) ? outer[path[1]] : undefined;
      return value === undefined ? [] : [{ kind: 'value', path: [...path], value, named: true }];
    },
  );
}

/**
 * The host writes a settings file anew: other order, other formatting, no second of two keys. The same change, but in
 * the file as its owner wrote it; undefined where the host changed more than that.
 */
export function asTyped(before: string, after: string): string | undefined {
  const merged = merge(before, ourEntries(after), dialect);
  if (isRefusal(merged)) return undefined;
  const [ours, theirs] = [readDocument(merged.text, dialect), readDocument(after, dialect)];
  if (isRefusal(ours) || isRefusal(theirs)) return undefined;
  return sameJson(withoutEmpty(ours.value), withoutEmpty(theirs.value)) ? merged.text : undefined;
}

/** The host leaves these behind when nothing is in them. */
export function withoutEmpty(value: Json): Json {
  if (!isTree(value)) return value;
  const isEmpty = (key: string): boolean =>
    (key === 'enabledPlugins' || key === 'extraKnownMarketplaces') && sameJson(value[key], {});
  return Object.fromEntries(Object.entries(value).filter(([key]) => !isEmpty(key)));
}

export const isTree = (value: Json | undefined): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
