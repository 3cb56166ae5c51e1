import { type Dialect, isRefusal, type Json, readDocument, sameJson } from './document.ts';
import { type Entry, isSameEntry, merge } from './merge.ts';
import { unmerge } from './unmerge.ts';

/** Those that a text has, with their values there; one whose name is not ours counts only as we write it. */
export function entriesIn(text: string, entries: readonly Entry[], dialect: Dialect): Entry[] {
  const document = readDocument(text, dialect);
  if (isRefusal(document)) return [];
  return entries.flatMap((entry): Entry[] => {
    const value = valueAt(document.value, entry.path);
    if (value === undefined) return [];
    if (entry.kind === 'item')
      return Array.isArray(value) && value.some((item) => sameJson(item, entry.value)) ? [entry] : [];
    if (entry.named) return [{ ...entry, value }];
    return sameJson(value, entry.value) ? [entry] : [];
  });
}

/** The same settings, however they are written, apart from our entries and the groups around them that are empty. */
export function isSameBut(
  one: string | undefined,
  other: string | undefined,
  entries: readonly Entry[],
  dialect: Dialect,
): boolean {
  const [a, b] = [one ?? '', other ?? ''].map((text) => readDocument(text, dialect));
  if (!a || !b || isRefusal(a) || isRefusal(b)) return false;
  const bare = (value: Json): Json | undefined =>
    entries.reduce<Json | undefined>((left, entry) => bareOf(left, entry), value);
  return sameJson(bare(a.value) ?? {}, bare(b.value) ?? {});
}

/**
 * A host writes a settings file anew: other order, other formatting, no second of two keys. The same change, but in
 * the file as its owner wrote it; undefined where more than our entries changed.
 */
export function asTyped(
  before: string,
  after: string,
  entries: readonly Entry[],
  dialect: Dialect,
): string | undefined {
  const merged = merge(before, entriesIn(after, entries, dialect), dialect);
  if (isRefusal(merged)) return undefined;
  return isSameBut(merged.text, after, entries, dialect) ? merged.text : undefined;
}

/**
 * The file without what of ours came into it since `start`: that text itself, or where somebody else wrote as well,
 * theirs. undefined: no file.
 */
export function withoutOurs(
  start: string | undefined,
  now: string | undefined,
  entries: readonly Entry[],
  dialect: Dialect,
): string | undefined {
  if (now === undefined || now === start) return now;
  if (isSameBut(start, now, entries, dialect)) return start;
  const before = entriesIn(start ?? '', entries, dialect);
  const since = entriesIn(now, entries, dialect).filter(
    (one) => !before.some((each) => isSameEntry(each, one)),
  );
  return taken(now, since, dialect);
}

/** With the groups around them that are empty then. */
export function taken(text: string, entries: readonly Entry[], dialect: Dialect): string {
  const added = entries.map((entry) => ({ entry, found: 0 }));
  const result = unmerge(text, added, dialect);
  return isRefusal(result) ? text : result.text;
}

const valueAt = (value: Json, path: readonly string[]): Json | undefined =>
  path.reduce(
    (part: Json | undefined, key) => (isTree(part) && Object.hasOwn(part, key) ? part[key] : undefined),
    value,
  );

/** undefined for a group that is empty. */
function bareOf(value: Json | undefined, entry: Entry, depth = 0): Json | undefined {
  const key = entry.path[depth];
  if (key === undefined) {
    if (entry.kind === 'value') return entry.named || sameJson(value, entry.value) ? undefined : value;
    if (!Array.isArray(value)) return value;
    const left = value.filter((item) => !sameJson(item, entry.value));
    return left.length > 0 ? left : undefined;
  }
  if (!isTree(value) || !Object.hasOwn(value, key)) return depth > 0 && isEmpty(value) ? undefined : value;
  const inner = bareOf(value[key], entry, depth + 1);
  const rest = Object.entries(value).flatMap(([name, each]): [string, Json][] =>
    name !== key ? [[name, each]] : inner === undefined ? [] : [[name, inner]],
  );
  return rest.length > 0 || depth === 0 ? Object.fromEntries(rest) : undefined;
}

const isEmpty = (value: Json | undefined): boolean => isTree(value) && Object.keys(value).length === 0;

const isTree = (value: Json | undefined): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
