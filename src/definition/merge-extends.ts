import { maxSteps } from '../schema/index.ts';
import { didYouMean } from '../suggest.ts';
import { asWritten, phaseAfter, phaseBefore, readPhases } from './read-phases.ts';
import { readTree } from './yaml.ts';
import {
  child,
  createSource,
  type Entry,
  entries,
  items,
  keyLocation,
  type ListNode,
  type MapNode,
  maps,
  type Node,
  type Report,
  type SourceLocation,
  textOf,
} from './yaml-tree.ts';

/** Finds the text of a base by the name in `extends`; `from` is the file that names it. */
export type FindBase = (name: string, from: string) => { text: string; file: string } | undefined;

const maxChain = 8;

/**
 * One tree for a file and everything it extends: maps merge, lists replace, steps and sub-steps merge by id. In a whole
 * tree `extends`, `remove` and `after` are gone and `id` has become `name`; it is not whole when a base could not be read.
 */
export function mergeExtends(
  tree: MapNode,
  findBase: FindBase | undefined,
  report: Report,
  chain: readonly string[] = [],
): { tree: MapNode; whole: boolean } {
  const own = readPhases(readIdAsName(tree, report), report);
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
  const inherited = mergeExtends(base, findBase, report, files);
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
      'Remove one extends.',
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
  if (removing) needsExtends('remove', removing.key, "Add 'extends', or remove it.", report);
  const loops = entries(child(tree, 'loops')).map(([, { value }]) => value);
  for (const step of [child(tree, 'steps'), ...loops].flatMap((list) => maps(list))) {
    if (!step.entries.has('after')) continue;
    needsExtends('after', keyLocation(step, 'after'), 'Put the step where it belongs.', report);
  }
}

const needsExtends = (key: string, place: SourceLocation, advice: string, report: Report): void =>
  report('error', 'needs_extends', place, `'${key}' has a meaning only together with 'extends'`, advice);

function merge(base: MapNode, own: MapNode, report: Report): MapNode {
  const merged = mergeMaps(base, own);
  merged.entries.delete('extends');
  merged.entries.delete('remove');
  // A name says which file is meant, so it is never inherited.
  if (!own.entries.has('name')) merged.entries.delete('name');
  const removals = readRemovals(base, own, report);
  mergeListAt(merged, base, own, 'steps', removals.get('') ?? new Set(), report);
  const loops = child(merged, 'loops');
  if (loops?.kind !== 'map') return merged;
  const inner: MapNode = { ...loops, entries: new Map(loops.entries) };
  const [baseLoops, ownLoops] = [child(base, 'loops'), child(own, 'loops')];
  for (const id of loops.entries.keys()) {
    mergeListAt(inner, baseLoops, ownLoops, id, removals.get(id) ?? new Set(), report);
  }
  merged.entries.set('loops', { key: keyLocation(merged, 'loops'), value: inner });
  return merged;
}

/** What `remove` names: steps under '', the sub-steps of a loop (`loop/sub-step`) under the loop's id. */
function readRemovals(base: MapNode, own: MapNode, report: Report): Map<string, Set<string>> {
  const removals = new Map<string, Set<string>>();
  const known = new Set(maps(child(base, 'steps')).flatMap((step) => idOf(step) ?? []));
  for (const [loop, { value }] of entries(child(base, 'loops'))) {
    for (const subStep of maps(value)) known.add(`${loop}/${idOf(subStep)}`);
  }
  for (const node of items(own.entries.get('remove')?.value)) {
    const name = textOf(node);
    if (name === undefined) continue;
    if (!known.has(name)) {
      const message = `'remove' names '${name}', which the base does not have`;
      report('error', 'unknown_step', node, message, () => didYouMean(name, known));
    }
    const slash = name.indexOf('/');
    const list = slash < 0 ? '' : name.slice(0, slash);
    removals.set(list, (removals.get(list) ?? new Set()).add(name.slice(slash + 1)));
  }
  return removals;
}

/** Puts the merge of two lists of steps into the map; what is no list is left to the schema. */
function mergeListAt(
  into: MapNode,
  baseMap: Node | undefined,
  ownMap: Node | undefined,
  key: string,
  removed: ReadonlySet<string>,
  report: Report,
): void {
  const [base, own] = [child(baseMap, key), child(ownMap, key)];
  if (own !== undefined && own.kind !== 'list') return;
  if (base?.kind !== 'list' && own === undefined) return;
  const place = own ?? base;
  if (place === undefined) return;
  const steps = mergeSteps(items(base), own, removed, report);
  const list: ListNode = { kind: 'list', items: steps, source: place.source, offset: place.offset };
  into.entries.set(key, { key: keyLocation(into, key), value: list });
}

const idOf = (node: Node): string | undefined => textOf(child(node, 'id'));

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
  removed: ReadonlySet<string>,
  report: Report,
): Node[] {
  // Too many is an error of the schema; placing them is recursive.
  if (own !== undefined && own.items.length > maxSteps) return [...base, ...own.items];
  const known = new Set(base.map(idOf).filter((id) => id !== undefined));

  const changes = new Map<string, MapNode>();
  const added = new Map<string | undefined, Node[]>();
  const ahead = new Map<string, Node[]>();
  const ids = new Set(known);
  const kept = (phase: string | undefined) =>
    phase !== undefined && known.has(phase) && !removed.has(phase) ? phase : undefined;
  for (const step of own?.items ?? []) {
    const id = idOf(step);
    if (step.kind === 'map' && id !== undefined && known.has(id) && !removed.has(id) && !changes.has(id)) {
      changes.set(id, asWritten(step));
      if (step.entries.has('after')) {
        report(
          'error',
          'after_known',
          keyLocation(step, 'after'),
          `Step '${id}' is already in the base, 'after' is for new steps`,
          "Remove 'after'.",
        );
      }
      continue;
    }
    if (id !== undefined) ids.add(id);
    const [before, phase] = [kept(phaseAfter(step)), kept(phaseBefore(step))];
    if (before !== undefined) {
      ahead.set(before, [...(ahead.get(before) ?? []), step]);
      continue;
    }
    const after = textOf(child(step, 'after')) ?? phase;
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
    for (const before of ahead.get(id ?? '') ?? []) place(before);
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
