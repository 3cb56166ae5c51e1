import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Which JSON a host reads: with comments and commas at the end, or without. */
export type Dialect = 'json' | 'jsonc';

/** A settings file that nothing can be written into, and where it goes wrong. Lines and columns count from 1. */
export interface SettingsRefusal {
  code: 'broken' | 'shape';
  problem: string;
  line: number;
  column: number;
}

/** A settings file as a text and as a tree; offsets are those of `body`. */
export interface SettingsDocument {
  bom: string;
  body: string;
  /** undefined for a file with nothing in it. */
  root: Node | undefined;
  value: Json;
}

export const isRefusal = (value: object): value is SettingsRefusal => 'problem' in value;

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
  if (root?.type !== 'object') return refusal('shape', 'the file holds no JSON object', body, 0);
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

/** Of keys that stand twice the last one counts, as for every reader of JSON. */
export function jsonOf(node: Node): Json {
  if (node.type === 'array') return (node.children ?? []).map(jsonOf);
  // A leaf's value is a string, a number, a boolean or null.
  if (node.type !== 'object') return node.value as Json;
  const pairs = (node.children ?? []).flatMap(({ children: [key, value] = [] }): [string, Json][] =>
    key && value ? [[String(key.value), jsonOf(value)]] : [],
  );
  return Object.fromEntries(pairs);
}

/** The property with this key that counts; its value is its second child. */
export const propertyOf = (object: Node, key: string): Node | undefined =>
  (object.children ?? []).findLast(({ children }) => children?.[0]?.value === key);

/** Order of keys does not matter, order of items does. */
export function sameJson(one: Json | undefined, other: Json | undefined): boolean {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

function sorted(value: Json | undefined): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const pairs = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  // As a list it keeps its order, whatever the keys are; within an object it is not taken for one.
  return { pairs: pairs.map(([key, each]) => [key, sorted(each)]) };
}

const said: Record<string, string> = {
  InvalidCommentToken: 'a comment, which this file may not have',
  PropertyNameExpected: 'the name of a setting is missing',
  ValueExpected: 'a value is missing',
  ColonExpected: 'a colon is missing',
  CommaExpected: 'a comma is missing',
  CloseBraceExpected: 'a } is missing',
  CloseBracketExpected: 'a ] is missing',
  EndOfFileExpected: 'text after the end of the settings',
  UnexpectedEndOfString: 'a text has no end',
  UnexpectedEndOfComment: 'a comment has no end',
};

function sayError({ error, offset }: ParseError, body: string): string {
  const name = printParseErrorCode(error);
  if (name === 'PropertyNameExpected' && /^[}\],]/.test(body.slice(offset))) return 'a comma too many';
  return said[name] ?? 'this is no JSON';
}
