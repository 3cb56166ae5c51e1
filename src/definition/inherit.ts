import { maxSteps } from './schema.ts';
import { didYouMean } from './suggest.ts';
import {
  child,
  createSource,
  type Entry,
  items,
  keyPlace,
  type ListNode,
  type MapNode,
  type Node,
  type Report,
  textOf,
} from './tree.ts';
import { readTree } from './yaml.ts';

/** Finds the text of a base by the name in `extends`; `from` is the file that names it. */
export type FindBase = (name: string, from: string) => { text: string; file: string } | undefined;

const maxChain = 8;

/**
 * One tree for a file and everything it extends: maps merge, lists replace, steps merge by id. In a whole tree `extends`,
 * `remove` and `after` are gone and `id` has become `name`; it is not whole when a base could not be read.
 */
export function inherit(
  tree: MapNode,
  findBase: FindBase | undefined,
  report: Report,
  chain: readonly string[] = [],
): { tree: MapNode; whole: boolean } {
  const own = readIdAsName(tree, report);
  const extending = own.entries.get('extends');
  if (extending === undefined) {
    checkAlone(own, report);
    return { tree: own, whole: true };
  }
  const name = textOf(extending.value);
  // The schema reports what is no text.
  if (name === undefined) return { tree: own, whole: false };
  const files = [...chain, tree.source.file];
  const base = loadBase(name, extending, files, findBase, report);
  if (base === undefined) return { tree: own, whole: false };
  const inherited = inherit(base, findBase, report, files);
  return { tree: merge(inherited.tree, own, report), whole: inherited.whole };
}

function loadBase(
  name: string,
  extending: Entry,
  files: readonly string[],
  findBase: FindBase | undefined,
  report: Report,
): MapNode | undefined {
  const place = extending.value;
  const found = findBase?.(name, place.source.file);
  if (found === undefined) {
    report(
      'error',
      'unknown_base',
      place,
      `extends names '${name}', which was not found`,
      'Write the name of a workflow in the search path, or a path from this file.',
    );
    return undefined;
  }
  if (files.includes(found.file)) {
    report(
      'error',
      'extends_cycle',
      place,
      `extends goes in a circle: ${[...files, found.file].join(' -> ')}`,
      'Take one extends away.',
    );
    return undefined;
  }
  if (files.length >= maxChain) {
    report(
      'error',
      'extends_too_long',
      place,
      `extends goes over more than ${maxChain} files`,
      'Shorten the chain.',
    );
    return undefined;
  }
  return readTree(createSource(found.file, found.text), report);
}

function readIdAsName(tree: MapNode, report: Report): MapNode {
  const id = tree.entries.get('id');
  if (id === undefined) return tree;
  const entries = new Map(tree.entries);
  entries.delete('id');
  if (!entries.has('name')) entries.set('name', id);
  else if (textOf(child(tree, 'name')) !== textOf(id.value)) {
    report(
      'error',
      'name_twice',
      id.key,
      "'id' is another spelling of 'name', and the two differ",
      "Keep 'name'.",
    );
  }
  return { ...tree, entries };
}

function checkAlone(tree: MapNode, report: Report): void {
  const removing = tree.entries.get('remove');
  if (removing)
    report(
      'error',
      'needs_extends',
      removing.key,
      "'remove' has a meaning only together with 'extends'",
      "Add 'extends', or take it away.",
    );
  for (const step of items(child(tree, 'steps'))) {
    if (step.kind === 'map' && step.entries.has('after')) {
      report(
        'error',
        'needs_extends',
        keyPlace(step, 'after'),
        "'after' has a meaning only together with 'extends'",
        'Put the step where it belongs.',
      );
    }
  }
}

function merge(base: MapNode, own: MapNode, report: Report): MapNode {
  const merged = mergeMaps(base, own);
  merged.entries.delete('extends');
  merged.entries.delete('remove');
  // A name says which file is meant, so it is never inherited.
  if (!own.entries.has('name')) merged.entries.delete('name');
  const baseSteps = child(base, 'steps');
  const ownSteps = child(own, 'steps');
  if (ownSteps !== undefined && ownSteps.kind !== 'list') return merged;
  if (baseSteps?.kind !== 'list' && ownSteps === undefined) return merged;
  const steps = mergeSteps(items(baseSteps), ownSteps, own.entries.get('remove')?.value, report);
  const place = ownSteps ?? baseSteps ?? own;
  const list: ListNode = { kind: 'list', items: steps, source: place.source, offset: place.offset };
  const key = (own.entries.get('steps') ?? base.entries.get('steps'))?.key ?? own;
  merged.entries.set('steps', { key, value: list });
  return merged;
}

function mergeMaps(base: MapNode, own: MapNode): MapNode {
  const entries = new Map(base.entries);
  for (const [key, entry] of own.entries) {
    const below = base.entries.get(key)?.value;
    const { value } = entry;
    const both = below?.kind === 'map' && value.kind === 'map';
    entries.set(key, both ? { key: entry.key, value: mergeMaps(below, value) } : entry);
  }
  return { ...own, entries };
}

function mergeSteps(
  base: readonly Node[],
  own: ListNode | undefined,
  remove: Node | undefined,
  report: Report,
): Node[] {
  // Too many is an error of the schema; placing them is recursive.
  if (own !== undefined && own.items.length > maxSteps) return [...base, ...own.items];
  const idOf = (node: Node): string | undefined => textOf(child(node, 'id'));
  const known = new Set(base.map(idOf).filter((id) => id !== undefined));
  const removed = new Set<string>();
  for (const node of items(remove)) {
    const id = textOf(node);
    if (id === undefined) continue;
    if (!known.has(id))
      report('error', 'unknown_step', node, `'remove' names step '${id}', which the base does not have`, () =>
        didYouMean(id, known),
      );
    removed.add(id);
  }

  const changes = new Map<string, MapNode>();
  const added = new Map<string | undefined, Node[]>();
  const ids = new Set(known);
  for (const step of own?.items ?? []) {
    const id = idOf(step);
    if (step.kind === 'map' && id !== undefined && known.has(id) && !removed.has(id) && !changes.has(id)) {
      changes.set(id, step);
      if (step.entries.has('after')) {
        report(
          'error',
          'after_known',
          keyPlace(step, 'after'),
          `Step '${id}' is already in the base, 'after' is for new steps`,
          "Take 'after' away.",
        );
      }
      continue;
    }
    if (id !== undefined) ids.add(id);
    const after = textOf(child(step, 'after'));
    added.set(after, [...(added.get(after) ?? []), step]);
  }

  const steps: Node[] = [];
  const place = (step: Node): void => {
    steps.push(step);
    const id = idOf(step);
    const following = id === undefined ? undefined : added.get(id);
    if (id === undefined || following === undefined) return;
    added.delete(id);
    for (const next of following) place(withoutAfter(next));
  };
  for (const step of base) {
    const id = idOf(step);
    if (id !== undefined && removed.has(id)) continue;
    const change = id === undefined ? undefined : changes.get(id);
    place(change && step.kind === 'map' ? withoutAfter(mergeMaps(step, change)) : step);
  }
  const last = added.get(undefined) ?? [];
  added.delete(undefined);
  for (const step of last) place(step);
  for (const [after, rest] of added) {
    for (const step of rest) {
      if (step.kind !== 'map') continue;
      const why =
        after !== undefined && ids.has(after)
          ? 'which is removed or comes after itself'
          : 'which does not exist';
      report(
        'error',
        'unknown_step',
        child(step, 'after') ?? step,
        `'after' names step '${after}', ${why}`,
        () => didYouMean(after ?? '', ids),
      );
      steps.push(withoutAfter(step));
    }
  }
  return steps;
}

function withoutAfter(step: Node): Node {
  if (step.kind !== 'map' || !step.entries.has('after')) return step;
  const entries = new Map(step.entries);
  entries.delete('after');
  return { ...step, entries };
}
