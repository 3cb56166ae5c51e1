/** One file: its text and where its lines begin. */
export interface Source {
  file: string;
  text: string;
  lineStarts: readonly number[];
}

export interface SourceLocation {
  source: Source;
  offset: number;
}

export interface ScalarNode extends SourceLocation {
  kind: 'scalar';
  value: string | number | boolean | null;
  /** End of the value in the text. */
  end: number;
}

export interface ListNode extends SourceLocation {
  kind: 'list';
  items: Node[];
}

export interface MapNode extends SourceLocation {
  kind: 'map';
  entries: Map<string, Entry>;
}

export interface Entry {
  key: SourceLocation;
  value: Node;
}

/** A value that knows where it was written: after `extends`, one tree holds parts of several files. */
export type Node = ScalarNode | ListNode | MapNode;

export type Plain = string | number | boolean | null | Plain[] | { [key: string]: Plain };

export function createSource(file: string, text: string): Source {
  const lineStarts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lineStarts.push(at + 1);
  return { file, text, lineStarts };
}

export function positionOf(place: SourceLocation): { file: string; line: number; column: number } {
  const { lineStarts, file, text } = place.source;
  const offset = Math.max(0, Math.min(place.offset, text.length));
  let low = 0;
  let high = lineStarts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((lineStarts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return { file, line: low + 1, column: offset - (lineStarts[low] ?? 0) + 1 };
}

/** Worked out only for what is shown: a hostile file can hold thousands of misspelt words. */
export type Suggestion = string | undefined | (() => string | undefined);

export type Report = (
  severity: 'error' | 'warning',
  code: string,
  place: SourceLocation,
  message: string,
  suggestion?: Suggestion,
) => void;

export const child = (node: Node | undefined, key: string): Node | undefined =>
  node?.kind === 'map' ? node.entries.get(key)?.value : undefined;

/** Where the key itself is written; the node where there is no such key. */
export const keyLocation = (node: MapNode, key: string): SourceLocation => node.entries.get(key)?.key ?? node;

export const items = (node: Node | undefined): readonly Node[] => (node?.kind === 'list' ? node.items : []);

export const maps = (node: Node | undefined): MapNode[] =>
  items(node).filter((item): item is MapNode => item.kind === 'map');

export const entries = (node: Node | undefined): [string, Entry][] =>
  node?.kind === 'map' ? [...node.entries] : [];

export const textOf = (node: Node | undefined): string | undefined =>
  node?.kind === 'scalar' && typeof node.value === 'string' ? node.value : undefined;

export const isTrue = (node: Node | undefined): boolean => node?.kind === 'scalar' && node.value === true;

export const isFalse = (node: Node | undefined): boolean => node?.kind === 'scalar' && node.value === false;

/** The node at a path; as far as the path leads where it does not lead to the end. */
export function descend(
  root: Node,
  path: readonly PropertyKey[],
): { node: Node; entry: Entry | undefined; rest: number } {
  let node = root;
  let entry: Entry | undefined;
  for (const [index, part] of path.entries()) {
    let next: Node | undefined;
    if (node.kind === 'list' && typeof part === 'number') {
      next = node.items[part];
      entry = undefined;
    } else if (node.kind === 'map' && typeof part === 'string') {
      entry = node.entries.get(part);
      next = entry?.value;
    }
    if (next === undefined) return { node, entry: undefined, rest: path.length - index };
    node = next;
  }
  return { node, entry, rest: 0 };
}

/** JSON-plain; keys that could reach a prototype never get into a tree. */
export function toPlain(node: Node): Plain {
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'list') return node.items.map(toPlain);
  const plain: { [key: string]: Plain } = {};
  for (const [key, entry] of node.entries) plain[key] = toPlain(entry.value);
  return plain;
}
