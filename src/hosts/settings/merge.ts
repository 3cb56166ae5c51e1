import type { Node } from 'jsonc-parser';
import {
  type Dialect,
  isRefusal,
  type Json,
  jsonOf,
  propertyOf,
  readDocument,
  refusal,
  type SettingsDocument,
  type SettingsRefusal,
  sameJson,
} from './document.ts';
import { applyEdits, type Edit, freshDocument, insertInto, replaceNode } from './edit.ts';

/** What is to stand in a settings file. */
export type Entry =
  /** Somebody else's value is never replaced; one under a name of ours is. */
  | { kind: 'value'; path: readonly string[]; value: Json; named?: true }
  /** One more in a list, such as a hook. */
  | { kind: 'item'; path: readonly string[]; value: Json };

/** An entry that is in the file, and how much of its path was made for it. */
export interface Added {
  entry: Entry;
  /** How many keys of the path were there already; what is beyond goes when it is empty. */
  found: number;
}

export interface Merged {
  text: string;
  added: Added[];
  /** Where somebody else's value stands. */
  kept: Entry[];
}

/**
 * Pure. All entries or none: a file that cannot be read, or has something else where a list or an object must be, is
 * refused. Twice is the same as once. No text is an absent file.
 */
export function merge(
  text: string | undefined,
  entries: readonly Entry[],
  dialect: Dialect,
): Merged | SettingsRefusal {
  const merged: Merged = { text: text ?? '', added: [], kept: [] };
  for (const entry of entries) {
    const document = readDocument(merged.text, dialect);
    if (isRefusal(document)) return document;
    const one = mergeOne(document, entry);
    if (one === 'kept') merged.kept.push(entry);
    else if (isRefusal(one)) return one;
    else {
      merged.text = document.bom + one.body;
      merged.added.push({ entry, found: one.found });
    }
  }
  const whole = readDocument(merged.text, dialect);
  return isRefusal(whole) ? whole : merged;
}

function mergeOne(
  { body, root }: SettingsDocument,
  entry: Entry,
): { body: string; found: number } | 'kept' | SettingsRefusal {
  const keys = entry.kind === 'value' ? entry.path : [...entry.path];
  const [first = '', ...rest] = keys;
  if (!root) return { body: freshDocument(first, wrapped(entry, rest)), found: 0 };
  let node: Node = root;
  for (const [found, key] of keys.entries()) {
    if (node.type !== 'object') return wrongShape(body, node, keys.slice(0, found), 'an object');
    const next = propertyOf(node, key)?.children?.[1];
    if (!next) {
      const edits = insertInto(body, node, wrapped(entry, keys.slice(found + 1)), key);
      return { body: applyEdits(body, edits), found };
    }
    node = next;
  }
  if (entry.kind === 'value') return mergeValue(body, node, entry);
  if (node.type !== 'array') return wrongShape(body, node, keys, 'a list');
  const there = (node.children ?? []).some((item) => sameJson(jsonOf(item), entry.value));
  const edits: Edit[] = there ? [] : insertInto(body, node, entry.value);
  return { body: applyEdits(body, edits), found: keys.length };
}

function mergeValue(
  body: string,
  node: Node,
  { value, named, path }: Extract<Entry, { kind: 'value' }>,
): { body: string; found: number } | 'kept' {
  // The last key is there because of us: now, or since an earlier time.
  const found = path.length - 1;
  if (sameJson(jsonOf(node), value)) return { body, found };
  if (!named) return 'kept';
  return { body: applyEdits(body, [replaceNode(body, node, value)]), found };
}

/** The value with the keys around it that are not there yet. */
function wrapped(entry: Entry, keys: readonly string[]): Json {
  const inner: Json = entry.kind === 'item' ? [entry.value] : entry.value;
  return keys.reduceRight((value: Json, key) => ({ [key]: value }), inner);
}

function wrongShape(body: string, node: Node, keys: readonly string[], wanted: string): SettingsRefusal {
  return refusal('shape', `'${keys.join('.')}' is not ${wanted}`, body, node.offset);
}

/** Whatever the value is, where it has a place of its own. */
export const isSameEntry = (one: Entry, other: Entry): boolean =>
  one.kind === other.kind &&
  sameJson([...one.path], [...other.path]) &&
  (one.kind === 'value' || sameJson(one.value, other.value));
