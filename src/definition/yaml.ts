import {
  Composer,
  CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  type ParsedNode,
  Parser,
} from 'yaml';
import type { Entry, MapNode, Node, Report, Source, SourceLocation } from './yaml-tree.ts';

export const maxBytes = 256 * 1024;
const maxDepth = 64;
const maxAliases = 100;
// About 4,000 lines of keys; the parser needs some microseconds for each, blank lines and comments included.
const maxTokens = 30_000;
const maxNodes = 20_000;
/** Texts once aliases are written out: several checks read each of them. */
const maxCharacters = 4 * maxBytes;

/** The file as a tree of located values; undefined when it could not be read at all. Reports what is wrong, never throws. */
export function readTree(source: Source, report: Report): MapNode | undefined {
  const at = (offset: number): SourceLocation => ({ source, offset });
  if (source.text.length > maxBytes || Buffer.byteLength(source.text) > maxBytes) {
    report(
      'error',
      'too_large',
      at(0),
      `The file is larger than ${maxBytes / 1024} KB`,
      'Move long texts into files and name them in required_reading.',
    );
    return undefined;
  }
  const documents = readDocuments(source, report);
  if (documents === undefined) return undefined;
  const document = documents[0];
  const errors = documents.flatMap((each) => each.errors);
  // One slip of the syntax makes many errors: the first tells, and tabs before all.
  const error = errors.find(({ code }) => code === 'TAB_AS_INDENT') ?? errors[0];
  if (error) {
    const advice = yamlSuggestion(source, error.code, error.message, error.pos[0]);
    report('error', 'yaml', at(error.pos[0]), yamlMessage(error.message), advice);
    return undefined;
  }
  if (documents.length > 1) {
    const second = documents[1]?.range[0] ?? 0;
    report(
      'error',
      'yaml',
      at(second),
      'The file holds more than one YAML document',
      'Keep one workflow in a file.',
    );
  }
  const root = document?.contents;
  if (root === null || root === undefined || (isScalar(root) && root.value === null)) {
    report('error', 'empty', at(0), 'The file is empty', 'Write at least name, description and steps.');
    return undefined;
  }
  const tree = createConverter(source, report)(root);
  if (tree === undefined || tree.kind === 'map') return tree;
  report(
    'error',
    'wrong_type',
    tree,
    `A workflow is a map of keys, got ${tree.kind === 'list' ? 'a list' : 'a single value'}`,
    'Begin with name: and description:.',
  );
  return undefined;
}

function readDocuments(source: Source, report: Report): Document.Parsed[] | undefined {
  try {
    const tokens = tokenize(source, report);
    return tokens && compose(tokens);
  } catch (error) {
    // The library promises not to throw; nothing that reads a stranger's file relies on it.
    const reason = error instanceof Error ? error.message : String(error);
    report(
      'error',
      'yaml_unreadable',
      { source, offset: 0 },
      `The file cannot be read as YAML: ${reason}`,
      'Simplify it.',
    );
    return undefined;
  }
}

/** Stops at the first sign of a bomb: the lexer and the parser are loops, only what comes after them is recursive. */
function tokenize(source: Source, report: Report): CST.Token[] | undefined {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  let offset = 0;
  let scalarNext = false;
  let aliases = 0;
  let count = 0;
  const refuse = (code: string, message: string, suggestion: string): undefined => {
    report('error', code, { source, offset }, message, suggestion);
    return undefined;
  };
  for (const lexeme of new Lexer().lex(source.text)) {
    const type = scalarNext ? 'scalar' : CST.tokenType(lexeme);
    if (++count > maxTokens)
      return refuse(
        'too_many_values',
        'The file has too many lines or values',
        'Move texts into files, or split it with extends.',
      );
    if (type === 'tag')
      return refuse(
        'tag',
        `Tags such as ${shorten(lexeme)} are not allowed`,
        `A text that begins with ! goes in quotes: ${JSON.stringify(lineAt(source, offset))}`,
      );
    if (type === 'alias' && ++aliases > maxAliases) {
      return refuse(
        'too_many_aliases',
        `The file holds more than ${maxAliases} aliases`,
        'Write the values out.',
      );
    }
    for (const token of parser.next(lexeme)) tokens.push(token);
    if (parser.stack.length > maxDepth) {
      return refuse(
        'too_deep',
        `Values are nested deeper than ${maxDepth} levels`,
        'A workflow needs about six.',
      );
    }
    scalarNext = lexeme === CST.SCALAR;
    if (lexeme !== CST.SCALAR && lexeme !== CST.FLOW_END && lexeme !== CST.DOCUMENT) offset += lexeme.length;
  }
  for (const token of parser.end()) tokens.push(token);
  return tokens;
}

function compose(tokens: CST.Token[]): Document.Parsed[] {
  const composer = new Composer({
    schema: 'core',
    version: '1.2',
    merge: false,
    resolveKnownTags: false,
    strict: true,
    // Ours is linear, the library's compares every key with every other.
    uniqueKeys: false,
  });
  // The library makes one Error for each fault; their stacks would cost most of the time.
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return [...composer.compose(tokens)];
  } finally {
    Error.stackTraceLimit = limit;
  }
}

function createConverter(source: Source, report: Report): (root: ParsedNode) => Node | undefined {
  const anchors = new Map<string, ParsedNode>();
  const open = new Set<ParsedNode>();
  let count = 0;
  let characters = 0;
  let stopped = false;

  const at = (node: ParsedNode): SourceLocation => ({ source, offset: node.range[0] });

  return convert;

  function convert(node: ParsedNode): Node | undefined {
    if (stopped) return undefined;
    if (isScalar(node) && typeof node.value === 'string') characters += node.value.length;
    if (++count > maxNodes || open.size > maxDepth || characters > maxCharacters) {
      stopped = true;
      report(
        'error',
        'too_many_values',
        at(node),
        'The file holds too many values once its aliases are written out',
        'Write the values out.',
      );
      return undefined;
    }
    if (isAlias(node)) return resolveAlias(node);
    if (node.anchor !== undefined) anchors.set(node.anchor, node);
    if (isScalar(node)) return convertScalar(node);
    open.add(node);
    const converted = isMap(node) ? convertMap(node) : isSeq(node) ? convertList(node) : undefined;
    open.delete(node);
    return converted;
  }

  function resolveAlias(node: ParsedNode & { source: string }): Node | undefined {
    const target = anchors.get(node.source);
    if (target === undefined || open.has(target)) {
      const why = target === undefined ? 'has no anchor before it' : 'stands inside its own anchor';
      report('error', 'alias', at(node), `The alias *${shorten(node.source)} ${why}`, 'Write the value out.');
      return undefined;
    }
    return convert(target);
  }

  function convertScalar(node: ParsedNode & { value: unknown }): Node | undefined {
    const { value } = node;
    const place = { ...at(node), end: node.range[1] };
    if (typeof value === 'number') {
      if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) {
        report('error', 'number', place, 'The number cannot be kept exactly', 'Put it in quotes.');
        return undefined;
      }
      return { kind: 'scalar', value: value === 0 ? 0 : value, ...place };
    }
    if (value === null || typeof value === 'string' || typeof value === 'boolean') {
      return { kind: 'scalar', value, ...place };
    }
    report(
      'error',
      'wrong_type',
      place,
      'The value is of no kind that a workflow knows',
      'Put it in quotes.',
    );
    return undefined;
  }

  function convertList(node: ParsedNode & { items: readonly unknown[] }): Node {
    const list: Node[] = [];
    for (const item of node.items) {
      // The parser gives nodes in a list; a pair in a flow list arrives as a map.
      const value = convert(item as ParsedNode);
      if (value !== undefined) list.push(value);
    }
    return { kind: 'list', items: list, ...at(node) };
  }

  function convertMap(node: ParsedNode & { items: readonly { key: unknown; value: unknown }[] }): Node {
    const map = new Map<string, Entry>();
    for (const pair of node.items) {
      // The parser gives nodes for keys, and nodes or null for values.
      const keyNode = pair.key as ParsedNode;
      const valueNode = pair.value as ParsedNode | null;
      const key = readKey(keyNode);
      if (key === undefined) continue;
      const keyPlace = at(keyNode);
      if (map.has(key)) {
        report(
          'error',
          'duplicate_key',
          keyPlace,
          `The key '${shorten(key)}' is given twice`,
          'Keep one of them.',
        );
        continue;
      }
      const value: Node | undefined =
        valueNode === null
          ? { kind: 'scalar', value: null, end: keyNode.range[1], ...keyPlace }
          : convert(valueNode);
      if (value !== undefined) map.set(key, { key: keyPlace, value });
    }
    return { kind: 'map', entries: map, ...at(node) };
  }

  function readKey(node: ParsedNode): string | undefined {
    if (!isScalar(node) || typeof node.value !== 'string') {
      report('error', 'key_not_string', at(node), 'A key must be a word', 'Put the key in quotes.');
      return undefined;
    }
    if (node.value === '<<') {
      report(
        'error',
        'merge_key',
        at(node),
        'Merge keys (<<) are not allowed',
        'Write the keys out, or use extends.',
      );
      return undefined;
    }
    if (node.value === 'prototype' || node.value in Object.prototype) {
      report(
        'error',
        'unknown_key',
        at(node),
        `The key '${node.value}' is not allowed`,
        'Choose another name.',
      );
      return undefined;
    }
    return node.value;
  }
}

const shorten = (text: string): string => (text.length > 40 ? `${text.slice(0, 40)}…` : text);

const yamlMessage = (message: string): string =>
  `This is not YAML: ${shorten(message) === message ? message : message.slice(0, 200)}`;

/** The rest of a line. */
const lineAt = (source: Source, offset: number): string =>
  source.text
    .slice(offset, offset + 200)
    .split('\n', 1)[0]
    ?.trim() ?? '';

function yamlSuggestion(source: Source, code: string, message: string, offset: number): string {
  if (code === 'BAD_SCALAR_START')
    return `Put it in quotes: ${JSON.stringify(lineAt(source, offset).split(/[,\]}]/, 1)[0])}`;
  if (code === 'TAB_AS_INDENT') return 'Indent with spaces.';
  if (code === 'MISSING_CHAR' && message.includes('closing'))
    return 'Close what was opened before this line.';
  return 'Check the indentation, and put a text that holds a colon in quotes.';
}
