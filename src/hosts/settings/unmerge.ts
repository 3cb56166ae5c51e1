import type { Node } from 'jsonc-parser';
import {
  type Dialect,
  isRefusal,
  type Json,
  jsonOf,
  propertyOf,
  readDocument,
  type SettingsDocument,
  type SettingsRefusal,
  sameJson,
} from './document.ts';
import { applyEdits, removeFrom } from './edit.ts';
import type { Added } from './merge.ts';

/**
 * Pure. Takes out what `merge` added and nothing else: a value that somebody changed since is theirs now, unless its
 * name is ours; a list or an object that was made for it goes only when nothing else is in it.
 */
export function unmerge(
  text: string,
  added: readonly Added[],
  dialect: Dialect,
): { text: string } | SettingsRefusal {
  let now = text;
  for (const each of [...added].reverse()) {
    // Each step takes one node out: its item, then the groups around it that are empty now.
    for (let left = each.entry.path.length + 2; left > 0; left--) {
      const document = readDocument(now, dialect);
      if (isRefusal(document)) return document;
      const body = withoutOne(document, each);
      if (body === undefined) break;
      now = document.bom + body;
    }
  }
  const whole = readDocument(now, dialect);
  return isRefusal(whole) ? whole : { text: now };
}

/** undefined where nothing of it is left. */
function withoutOne({ body, root }: SettingsDocument, { entry, found }: Added): string | undefined {
  if (!root) return undefined;
  const way: { object: Node; property: Node }[] = [];
  let node: Node | undefined = root;
  for (const key of entry.path) {
    const property: Node | undefined = node?.type === 'object' ? propertyOf(node, key) : undefined;
    if (!node || !property) break;
    way.push({ object: node, property });
    node = property.children?.[1];
  }
  const isWhole = way.length === entry.path.length;
  if (isWhole && node) {
    const taken = entry.kind === 'item' ? itemIn(node, entry.value) : undefined;
    if (taken) return applyEdits(body, removeFrom(body, taken.list, taken.item));
    const last = way.at(-1);
    const ours = entry.kind === 'value' && (entry.named || sameJson(jsonOf(node), entry.value));
    if (ours && last) return applyEdits(body, removeFrom(body, last.object, last.property));
  }
  const innermost = way.at(-1);
  const value = innermost?.property.children?.[1];
  if (!innermost || !value || way.length <= found || !isBare(body, value)) return undefined;
  return applyEdits(body, removeFrom(body, innermost.object, innermost.property));
}

/** Nothing in it, not even a comment. */
function isBare(body: string, { type, offset, length }: Node): boolean {
  return (type === 'object' || type === 'array') && body.slice(offset + 1, offset + length - 1).trim() === '';
}

/** The item itself, or of a group of hooks that somebody added to, those in it that are ours. */
function itemIn(list: Node, value: Json): { list: Node; item: Node } | undefined {
  if (list.type !== 'array') return undefined;
  const items = list.children ?? [];
  const whole = items.findLast((item) => sameJson(jsonOf(item), value));
  if (whole) return { list, item: whole };
  for (const ours of innerHooks(value)) {
    for (const group of items) {
      const inner = group.type === 'object' ? propertyOf(group, 'hooks')?.children?.[1] : undefined;
      const item = inner?.children?.findLast((each) => sameJson(jsonOf(each), ours));
      if (!inner || !item) continue;
      return inner.children?.length === 1 ? { list, item: group } : { list: inner, item };
    }
  }
  return undefined;
}

function innerHooks(value: Json): Json[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  const { hooks } = value;
  return Array.isArray(hooks) ? hooks : [];
}
