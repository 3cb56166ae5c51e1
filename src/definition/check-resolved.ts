import { adoptedDefinition, type Definition } from '../machine/index.ts';
import { workflowSchema } from '../schema/index.ts';
import { createCollector } from './diagnostics.ts';
import { hashDefinition } from './hash-definition.ts';
import { checkReferences } from './parse.ts';
import { reportIssues } from './schema-issues.ts';
import { createSource, type MapNode, type Node, type Report, type Source } from './yaml-tree.ts';

const deepest = 20;
/** As many as a file. */
const mostNodes = 20_000;
/** What only a file may have: of no meaning after `extends`. */
const authoredOnly = ['extends', 'remove', 'id'];

/**
 * Why a resolved definition that came without its file would not have been taken from one; undefined where it would.
 * Throws nothing, whatever the value.
 */
export function definitionProblem(definition: unknown): string | undefined {
  const check = definitionCheck(definition);
  for (let step = check.next(); ; step = check.next()) if (step.done) return step.value;
}

/** The same, in parts that take at most some tens of milliseconds. */
export function* definitionCheck(definition: unknown): Generator<void, string | undefined> {
  const left = { nodes: mostNodes };
  const root = nodeOf(definition, createSource('workflow.json', ''), deepest, left);
  if (left.nodes < 0) return `it has more than ${mostNodes} values`;
  if (root?.kind !== 'map') return 'it is no workflow';
  const written = authoredOnly.find((key) => root.entries.has(key));
  if (written !== undefined) return `Unknown key '${written}'`;
  yield;
  const parsed = workflowSchema.safeParse(definition);
  yield;
  if (parsed.success && isAdopted(definition)) return undefined;
  const { report, arranged } = createCollector();
  // One problem is all that is answered, so what the schema refuses is not looked at any further.
  if (parsed.success) checkReferences(root, false, allowingOlder(report));
  else reportIssues(root, parsed.error.issues, report);
  const found = arranged('workflow.json').find(({ severity }) => severity === 'error');
  return found?.message ?? (parsed.success ? undefined : 'it is no workflow');
}

/** What a file is refused for since older runs were pinned. */
const allowingOlder =
  (report: Report): Report =>
  (severity, code, ...rest) =>
    report(code === 'loop_output' ? 'warning' : severity, code, ...rest);

/** The one definition that no file holds: its only step is told by its source. */
function isAdopted(definition: unknown): boolean {
  // It has just passed the schema.
  const known = definition as Definition;
  const { name = '', description = '', type, steps = [] } = known;
  if (steps.length !== 1) return false;
  const same = adoptedDefinition(name, { source: description.replace(/^Adopted from /, '') }, type);
  return hashDefinition({ ...same, name }) === hashDefinition(known);
}

/** Undefined where it is no JSON, or more than any workflow is. */
function nodeOf(value: unknown, source: Source, depth: number, left: { nodes: number }): Node | undefined {
  left.nodes -= 1;
  if (depth === 0 || left.nodes < 0) return undefined;
  const place = { source, offset: 0 };
  if (value === null || ['string', 'number', 'boolean'].includes(typeof value))
    // Just looked at.
    return { ...place, kind: 'scalar', value: value as string | number | boolean | null, end: 0 };
  if (typeof value !== 'object') return undefined;
  if (Array.isArray(value)) {
    const items = value.map((each) => nodeOf(each, source, depth - 1, left));
    return items.every((item) => item !== undefined) ? { ...place, kind: 'list', items } : undefined;
  }
  const entries: MapNode['entries'] = new Map();
  for (const [key, each] of Object.entries(value)) {
    const node = key === '__proto__' ? undefined : nodeOf(each, source, depth - 1, left);
    if (!node) return undefined;
    entries.set(key, { key: place, value: node });
  }
  return { ...place, kind: 'map', entries };
}
