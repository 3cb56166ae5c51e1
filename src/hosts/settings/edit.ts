import { applyEdits, type JSONPath, modify } from 'jsonc-parser';
import {
  type Dialect,
  isJsonObject,
  isRefusal,
  type Json,
  readDocument,
  type SettingsDocument,
  sameJson,
  valueAt,
} from './document.ts';

/**
 * The document with this value instead of its own. Comments and formatting stay where `modify` of jsonc-parser keeps
 * them. Its result is read back; where it is wrong, the whole file is rewritten.
 */
export function edited(document: SettingsDocument, value: Json, dialect: Dialect): string {
  const { bom, body } = document;
  const text = changed(document, value);
  const result = readDocument(text, dialect);
  if (!isRefusal(result) && sameJson(result.value, value)) return bom + text;
  const eol = /\r?\n/.exec(body)?.[0] ?? '\n';
  return `${bom}${JSON.stringify(value, null, indentOf(body))}\n`.replaceAll('\n', eol);
}

/** Unchanged if there is nothing to edit or `modify` throws, as it may for a duplicate key. */
function changed({ body, root, value: from }: SettingsDocument, to: Json): string {
  try {
    return root ? change(body, [], from, to) : body;
  } catch {
    return body;
  }
}

function change(text: string, path: JSONPath, from: Json | undefined, to: Json | undefined): string {
  if (sameJson(from, to)) return text;
  if (isJsonObject(from) && isJsonObject(to)) {
    const keys = [...new Set([...Object.keys(from), ...Object.keys(to)])];
    return keys.reduce((now, key) => change(now, [...path, key], valueAt(from, key), valueAt(to, key)), text);
  }
  if (Array.isArray(from) && Array.isArray(to)) {
    if (to.length >= from.length)
      return to.reduce<string>((now, item, index) => change(now, [...path, index], from[index], item), text);
    const removed = removedFrom(from, to);
    if (removed) return removed.reduceRight((now, index) => set(now, [...path, index], undefined), text);
  }
  return set(text, path, to);
}

/** The items of `from` that are not in `to`; undefined if anything else differs. */
function removedFrom(from: readonly Json[], to: readonly Json[]): number[] | undefined {
  const removed: number[] = [];
  for (const [index, item] of from.entries())
    if (!sameJson(item, to[index - removed.length])) removed.push(index);
  return from.length - removed.length === to.length ? removed : undefined;
}

/** Without a value it removes the key. Additions use the file's formatting. */
function set(text: string, path: JSONPath, value: Json | undefined): string {
  const indent = indentOf(text);
  const formattingOptions = { insertSpaces: !indent.startsWith('\t'), tabSize: indent.length, eol: '\n' };
  const isOneLine = !/[\r\n]/.test(text.trim());
  const options = value === undefined || isOneLine ? {} : { formattingOptions };
  return applyEdits(text, modify(text, path, value, options));
}

const indentOf = (text: string): string => /[\r\n]([ \t]+)"/.exec(text)?.[1] ?? '  ';
