import { isDeepStrictEqual } from 'node:util';
import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';

export type Json = null | boolean | number | string | Json[] | JsonObject;
export type JsonObject = { [key: string]: Json };

/** The JSON dialect of a host: with comments and trailing commas, or without. */
export type Dialect = 'json' | 'jsonc';

/** Why a settings file cannot be edited, and where. Lines and columns count from 1. */
export interface SettingsRefusal {
  code: 'broken' | 'shape';
  problem: string;
  line: number;
  column: number;
}

/** A settings file as text and as a tree; offsets are relative to `body`. */
export interface SettingsDocument {
  bom: string;
  body: string;
  /** undefined for an empty file. */
  root: Node | undefined;
  value: Json;
}

export const isRefusal = (value: object | string | null): value is SettingsRefusal =>
  typeof value === 'object' && value !== null && 'problem' in value;

/** An empty text is an empty object. */
export function readDocument(text: string, dialect: Dialect): SettingsDocument | SettingsRefusal {
  const bom = text.startsWith('\uFEFF') ? '\uFEFF' : '';
  const body = text.slice(bom.length);
  if (body.trim() === '') return { bom, body, root: undefined, value: {} };
  const errors: ParseError[] = [];
  const jsonc = dialect === 'jsonc';
  const root = parseTree(body, errors, { allowTrailingComma: jsonc, disallowComments: !jsonc });
  const [first] = errors;
  if (first) return refusal('broken', sayError(first, body), body, first.offset);
  if (root?.type !== 'object') return refusal('shape', 'the file is not a JSON object', body, 0);
  return { bom, body, root, value: jsonOf(root) };
}

export function refusal(
  code: SettingsRefusal['code'],
  problem: string,
  body: string,
  offset: number,
): SettingsRefusal {
  const before = body.slice(0, offset).split(/\r\n|\r|\n/);
  return { code, problem, line: before.length, column: (before.at(-1) ?? '').length + 1 };
}

/** The last of duplicate keys counts, as in JSON.parse. `__proto__` is an ordinary key. */
function jsonOf(node: Node): Json {
  if (node.type === 'array') return (node.children ?? []).map(jsonOf);
  // A leaf's value is a string, a number, a boolean or null.
  if (node.type !== 'object') return node.value as Json;
  const pairs = (node.children ?? []).flatMap(({ children: [key, value] = [] }): [string, Json][] =>
    key && value ? [[String(key.value), jsonOf(value)]] : [],
  );
  return Object.fromEntries(pairs);
}

/** Order of keys does not matter, order of items does. */
export const sameJson = (one: Json | undefined, other: Json | undefined): boolean =>
  isDeepStrictEqual(one, other);

export const isJsonObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** undefined if the value is not an object or does not have the key. */
export const valueAt = (value: Json | undefined, key: string): Json | undefined =>
  isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;

const said: Record<string, string> = {
  InvalidCommentToken: 'a comment, which is not allowed in this file',
  PropertyNameExpected: 'the name of a setting is missing',
  ValueExpected: 'a value is missing',
  ColonExpected: 'a colon is missing',
  CommaExpected: 'a comma is missing',
  CloseBraceExpected: 'a } is missing',
  CloseBracketExpected: 'a ] is missing',
  EndOfFileExpected: 'text after the end of the settings',
  UnexpectedEndOfString: 'an unterminated string',
  UnexpectedEndOfComment: 'an unterminated comment',
};

function sayError({ error, offset }: ParseError, body: string): string {
  const name = printParseErrorCode(error);
  if (name === 'PropertyNameExpected' && /^[}\],]/.test(body.slice(offset))) return 'an extra comma';
  return said[name] ?? 'invalid JSON';
}
