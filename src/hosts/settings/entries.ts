import { findNodeAtLocation } from 'jsonc-parser';
import {
  type Dialect,
  isJsonObject,
  isRefusal,
  type Json,
  readDocument,
  refusal,
  type SettingsDocument,
  type SettingsRefusal,
  sameJson,
  valueAt,
} from './document.ts';
import { edited } from './edit.ts';

/** An entry that Stepfast or its host adds to a settings file. */
export type Entry =
  /** Never replaces the user's value; replaces one under our own name. */
  | { kind: 'value'; path: readonly string[]; value: Json; named?: true }
  /** An added item of a list, such as a hook. */
  | { kind: 'item'; path: readonly string[]; value: Json };

/** The owner's text of a settings file, and the entries that are ours in it since. */
export interface Original {
  /** null: there was no file. */
  before: string | null;
  entries: readonly Entry[];
}

/**
 * Pure and idempotent. Adds all entries or none: refuses a file that cannot be parsed or has another type where a list
 * or an object is needed. null: no file.
 */
export function withEntries(
  text: string | null,
  entries: readonly Entry[],
  dialect: Dialect,
): string | null | SettingsRefusal {
  const document = readDocument(text ?? '', dialect);
  if (isRefusal(document)) return document;
  for (const entry of entries) {
    const wrong = wrongShape(document, entry);
    if (wrong) return wrong;
  }
  const value = entries.reduce((now, entry) => added(now, entry, entry.path), document.value);
  return sameJson(value, document.value) ? text : edited(document, value, dialect);
}

/**
 * Pure. Restores every entry of ours and keeps every other value. If no other value changed, the result is the original
 * byte for byte, whatever the formatting now. null: remove the file.
 */
export function restored(
  now: string | null,
  { before, entries }: Original,
  dialect: Dialect,
): string | null | SettingsRefusal {
  if (now === null) return null;
  const document = readDocument(now, dialect);
  if (isRefusal(document)) return document;
  const original = readDocument(before ?? '', dialect);
  if (isRefusal(original)) return original;
  const value = entries.reduce(
    (left, entry) => reverted(left, original.value, entry, entry.path) ?? {},
    document.value,
  );
  return sameJson(value, original.value) ? before : edited(document, value, dialect);
}

/**
 * Pure. A host may rewrite a settings file in another order and formatting. Returns what to write after that: the owner's
 * text with the host's entries and the `wanted` ones. `before` is the owner's current text, which differs from the
 * original if the owner has edited the file since.
 */
export function settled(
  written: string | null,
  original: Original,
  wanted: readonly Entry[],
  dialect: Dialect,
): { text: string | null; before: string | null } | SettingsRefusal {
  const before = restored(written, original, dialect);
  if (isRefusal(before)) return before;
  const ours = [...entriesIn(written, original.entries, dialect), ...wanted];
  const text = withEntries(before, ours, dialect);
  return isRefusal(text) ? text : { text, before };
}

/** The owner's text. Without a record, entries with our name are from an installation whose record is lost. */
export function ownersText(
  now: string | null,
  known: Original | undefined,
  entries: readonly Entry[],
  dialect: Dialect,
): string | null | SettingsRefusal {
  if (known) return restored(now, known, dialect);
  const there = entriesIn(now, entries, dialect);
  return there.length === 0 ? now : restored(now, { before: '{}', entries: there }, dialect);
}

/** Those that a text has, with their values there; one whose name is not ours counts only as we write it. */
export function entriesIn(text: string | null, entries: readonly Entry[], dialect: Dialect): Entry[] {
  const document = readDocument(text ?? '', dialect);
  if (isRefusal(document)) return [];
  return entries.flatMap((entry): Entry[] => {
    const value = entry.path.reduce<Json | undefined>(valueAt, document.value);
    if (value === undefined) return [];
    if (entry.kind === 'item') return Array.isArray(value) && has(value, entry.value) ? [entry] : [];
    return entry.named || sameJson(value, entry.value) ? [{ ...entry, value }] : [];
  });
}

function wrongShape({ value, body, root }: SettingsDocument, entry: Entry): SettingsRefusal | undefined {
  const says = (path: readonly string[], wanted: string): SettingsRefusal => {
    const offset = (root && findNodeAtLocation(root, [...path])?.offset) ?? 0;
    return refusal('shape', `'${path.join('.')}' is not ${wanted}`, body, offset);
  };
  let part: Json | undefined = value;
  for (const [index, key] of entry.path.entries()) {
    if (part === undefined) return undefined;
    if (!isJsonObject(part)) return says(entry.path.slice(0, index), 'an object');
    part = valueAt(part, key);
  }
  const fits = entry.kind === 'value' || part === undefined || Array.isArray(part);
  return fits ? undefined : says(entry.path, 'a list');
}

function added(now: Json | undefined, entry: Entry, [key, ...rest]: readonly string[]): Json {
  if (key !== undefined) {
    const inner = added(valueAt(now, key), entry, rest);
    return { ...(isJsonObject(now) ? now : {}), [key]: inner };
  }
  if (entry.kind === 'value') return now === undefined || entry.named ? entry.value : now;
  const list = Array.isArray(now) ? now : [];
  return has(list, entry.value) ? list : [...list, entry.value];
}

/** undefined: not there, like a group that is empty and was not there before. */
function reverted(
  now: Json | undefined,
  was: Json | undefined,
  entry: Entry,
  [key, ...rest]: readonly string[],
): Json | undefined {
  if (key === undefined) {
    if (entry.kind === 'value') return entry.named || sameJson(now, entry.value) ? was : now;
    if (!Array.isArray(now)) return now;
    const theirs = Array.isArray(was) ? was : [];
    const left = now.flatMap((item) => (has(theirs, item) ? [item] : withoutHooks(item, entry.value)));
    return left.length === 0 && was === undefined ? undefined : left;
  }
  if (now !== undefined && !isJsonObject(now)) return now;
  const inner = reverted(valueAt(now, key), valueAt(was, key), entry, rest);
  if (inner !== undefined) return { ...now, [key]: inner };
  const others = Object.entries(now ?? {}).filter(([name]) => name !== key);
  const isGone = now === undefined || (others.length === 0 && was === undefined);
  return isGone ? undefined : Object.fromEntries(others);
}

/** Nothing for an item that is ours. Of a group of hooks that the owner added to, the hooks of the owner. */
function withoutHooks(item: Json, ours: Json): Json[] {
  if (sameJson(item, ours)) return [];
  const [all, mine] = [valueAt(item, 'hooks'), valueAt(ours, 'hooks')];
  if (!isJsonObject(item) || !Array.isArray(all) || !Array.isArray(mine)) return [item];
  const hooks = all.filter((each) => !has(mine, each));
  if (hooks.length === all.length) return [item];
  return hooks.length === 0 ? [] : [{ ...item, hooks }];
}

const has = (list: readonly Json[], value: Json): boolean => list.some((each) => sameJson(each, value));
