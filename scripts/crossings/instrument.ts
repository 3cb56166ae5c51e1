import { parseAst } from 'vitest/node';

/** A node of the syntax tree, read by its keys: what is needed is the same for every kind. */
interface Node {
  type: string;
  start: number;
  end: number;
  [key: string]: unknown;
}

/** What instrumented code calls, as a global object. */
export interface Probe {
  /** Returns what `body` returns. */
  enter<T>(file: string, name: string, body: () => T): T;
  /** A module begins or has ended its top-level code. */
  load(isLoading: boolean): void;
}

export const probeName = '__stepfastProbe';

/** Makes every function of a TypeScript source report its entry. Line numbers stay as they are. */
export function instrument(source: string, file: string): string {
  const program = parseAst(source, { lang: 'ts' }) as unknown as Node & { body: Node[] };
  const inserts = functionsIn(program).flatMap(([node, name]) => insertsFor(node, name, file));
  const [first] = program.body;
  // A module that waits at its top level is a program: what it calls there is the program's work.
  const isLibrary = first && !program.body.some(waits);
  if (isLibrary) inserts.unshift([first.start, `${probeName}.load(true);`]);
  let text = '';
  let from = 0;
  // The sort is stable: where two functions end at one offset, the inner one ends first.
  for (const [offset, insert] of inserts.sort(([a], [b]) => a - b)) {
    text += source.slice(from, offset) + insert;
    from = offset;
  }
  return `${text}${source.slice(from)}${isLibrary ? `\n;${probeName}.load(false);` : ''}`;
}

type Insert = [offset: number, text: string];

function insertsFor(node: Node, name: string, file: string): Insert[] {
  const body = node.body as Node;
  const enter = `${probeName}.enter(${JSON.stringify(file)},${JSON.stringify(name)}`;
  const inner = `${node.async ? 'async ' : ''}()=>`;
  // A generator runs when its consumer asks for a value, so what it calls is called by the consumer.
  if (node.generator) return [[body.start + 1, `${enter},()=>{});`]];
  if (body.type !== 'BlockStatement')
    return [
      [body.start, `${enter},${inner}(`],
      [body.end, '))'],
    ];
  return [
    [body.start + 1, `return ${enter},${inner}{`],
    [body.end - 1, '});'],
  ];
}

/** Functions with a body and their names, inner ones before outer ones. */
function functionsIn(node: Node, nameFromParent = ''): [Node, string][] {
  const name = nameIn(node) || nameFromParent;
  const inner = childrenOf(node).flatMap((child) => functionsIn(child, givesName(node) ? name : ''));
  return isFunction(node) && isNode(node.body) ? [...inner, [node, name || 'anonymous']] : inner;
}

/** Outside the functions in it. */
const waits = (node: Node): boolean =>
  node.type === 'AwaitExpression' || (!isFunction(node) && childrenOf(node).some(waits));

const isFunction = ({ type }: Node): boolean =>
  ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'].includes(type);

const givesName = ({ type }: Node): boolean =>
  ['VariableDeclarator', 'Property', 'MethodDefinition', 'PropertyDefinition'].includes(type);

function nameIn({ id, key }: Node): string {
  const named = isNode(id) ? id : isNode(key) ? key : undefined;
  return String(named?.name ?? named?.value ?? '');
}

const childrenOf = (node: Node): Node[] => Object.values(node).flat().filter(isNode);

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
