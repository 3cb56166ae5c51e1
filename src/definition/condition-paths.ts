import type { ASTNode } from '@marcbachmann/cel-js';
import { didYouMean, nearest } from '../suggest.ts';

const roots = ['inputs', 'outputs', 'tasks', 'task', 'iteration', 'state'] as const;

/** One place of an expression that reads the context: `presence` is `has(path)`, `truth` a path where a truth value belongs. */
export interface Reading {
  path: string[];
  as: 'value' | 'presence' | 'truth';
  start: number;
  end: number;
}

type Analysis =
  | { ok: true; readings: Reading[]; comprehension: boolean }
  | { ok: false; message: string; offset: number; suggestion?: string };

const comprehensions = new Set(['all', 'exists', 'exists_one', 'filter', 'map']);
const methods = [
  'size',
  'startsWith',
  'endsWith',
  'contains',
  'trim',
  'lowerAscii',
  'upperAscii',
  ...comprehensions,
];
const functions = ['has', 'size', 'int', 'double', 'string'];

/** Which paths an expression reads, in order; refuses what it may not name or call. */
export function analyse(ast: ASTNode): Analysis {
  const readings: Reading[] = [];
  let comprehension = false;
  try {
    walk(ast, [], 'truth');
  } catch (error) {
    if (error instanceof Refused) return error.problem;
    throw error;
  }
  readings.sort((a, b) => a.start - b.start);
  return { ok: true, readings, comprehension };

  function walk(node: ASTNode, locals: readonly string[], as: 'value' | 'truth' = 'value'): void {
    const path = staticPath(node, locals);
    if (path !== undefined) {
      readings.push({ path, as, start: node.start, end: node.end });
      return;
    }
    switch (node.op) {
      case 'value':
        return;
      case 'id':
        if (!locals.includes(node.args)) refuseName(node.args, node.start);
        return;
      case 'call':
        walkCall(node.args[0], node.args[1], node, locals);
        return;
      case 'rcall':
        walkMethod(node.args[0], node.args[1], node.args[2], node, locals);
        return;
      case '.':
      case '.?':
        walk(node.args[0], locals);
        return;
      case '!_':
        walk(node.args, locals, 'truth');
        return;
      case '-_':
        walk(node.args, locals);
        return;
      case '&&':
      case '||':
        for (const each of node.args) walk(each, locals, 'truth');
        return;
      case '?:':
        walk(node.args[0], locals, 'truth');
        walk(node.args[1], locals, as);
        walk(node.args[2], locals, as);
        return;
      case 'map':
        for (const [key, value] of node.args) {
          walk(key, locals);
          walk(value, locals);
        }
        return;
      default:
        for (const each of node.args) walk(each, locals);
    }
  }

  function walkCall(name: string, args: readonly ASTNode[], node: ASTNode, locals: readonly string[]): void {
    if (!functions.includes(name))
      refuse(node.start, `A condition cannot call ${name}()`, advice(name, functions));
    const path = name === 'has' && args[0] !== undefined ? staticPath(args[0], locals) : undefined;
    if (path !== undefined && path.length > 1) {
      readings.push({ path, as: 'presence', start: node.start, end: node.end });
      return;
    }
    for (const each of args) walk(each, locals);
  }

  function walkMethod(
    name: string,
    receiver: ASTNode,
    args: readonly ASTNode[],
    node: ASTNode,
    locals: readonly string[],
  ): void {
    if (!methods.includes(name))
      refuse(node.start, `A condition cannot call .${name}()`, advice(name, methods));
    walk(receiver, locals);
    const [first, ...rest] = args;
    if (!comprehensions.has(name) || first?.op !== 'id') {
      for (const each of args) walk(each, locals);
      return;
    }
    if (locals.length > 0)
      refuse(node.start, `.${name}() stands inside another one`, 'Write two conditions.');
    if (first.args.startsWith('_') || roots.some((root) => root === first.args)) {
      refuse(
        first.start,
        `'${first.args}' cannot name an element`,
        'Choose another name, for instance item.',
      );
    }
    comprehension = true;
    for (const each of rest) walk(each, [first.args], name === 'map' ? 'value' : 'truth');
  }
}

/** `state.a["b"][0]` as its parts; undefined where the expression is no such path. */
function staticPath(node: ASTNode, locals: readonly string[]): string[] | undefined {
  const path = pathOf(node, locals);
  if (path === undefined) return undefined;
  // A node does not cover the parentheses around its parts, so it cannot be cut out with them.
  const bare = node.input.slice(node.start, node.end).replaceAll(/"[^"]*"|'[^']*'/g, '');
  return bare.includes(')') ? undefined : path;
}

function pathOf(node: ASTNode, locals: readonly string[]): string[] | undefined {
  if (node.op === 'id') {
    return !locals.includes(node.args) && roots.some((root) => root === node.args) ? [node.args] : undefined;
  }
  if (node.op === '.') {
    const below = pathOf(node.args[0], locals);
    return below && [...below, node.args[1]];
  }
  if (node.op !== '[]') return undefined;
  const [left, index] = node.args;
  if (index.op !== 'value' || (typeof index.args !== 'string' && typeof index.args !== 'bigint'))
    return undefined;
  const below = pathOf(left, locals);
  return below && [...below, String(index.args)];
}

class Refused extends Error {
  readonly problem: Extract<Analysis, { ok: false }>;

  constructor(problem: Extract<Analysis, { ok: false }>) {
    super(problem.message);
    this.problem = problem;
  }
}

function refuse(offset: number, message: string, suggestion: string): never {
  throw new Refused({ ok: false, message, offset, suggestion });
}

function refuseName(name: string, offset: number): never {
  const known = `A condition may look at ${roots.join(', ')}.`;
  const suggestion =
    name === 'undefined' ? "Did you mean 'null'?" : didYouMean(name, [...roots, 'null', 'true', 'false']);
  refuse(offset, `A condition does not know '${name}'`, suggestion ?? known);
}

const advice = (name: string, known: readonly string[]): string =>
  nearest(name, known) === undefined
    ? `It may call ${known.join(', ')}.`
    : `Did you mean '${nearest(name, known)}'?`;
