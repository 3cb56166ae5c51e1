import type { TaskInput } from '../../machine/index.ts';

/** The open tasks of a Markdown checklist, and the titles of the ticked ones. */
export interface Checklist {
  tasks: TaskInput[];
  done: string[];
}

interface Item {
  indent: number;
  ticked: boolean;
  id?: string | undefined;
  title: string;
  /** `[P]`: can run in parallel with its neighbors. */
  parallel: boolean;
  tags: string[];
  heading: string;
  lines: string[];
  children: Item[];
}

const itemPattern = /^(\s*)(?:[-*+]|\d+[.)])\s+\[([ xX])\]\s+(.+?)\s*$/;
const idPattern = /^(T\d+|[A-Z]{2,8}-\d+|\d+(?:\.\d+)+(?=[.:)\s])|\d+(?=[.:)]))[.:)]?\s+(.+)$/;
const tagPattern = /^\[([A-Za-z]{1,4}\d{0,4})\]\s*(.*)$/;
const safeId = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/**
 * Reads the lists that spec-kit (`- [ ] T001 [P] [US1] Title`) and OpenSpec (`- [ ] 1.1 Title`) write. If an
 * item's children have ids, it is their heading; other children are details. Where `[P]` is used, a task without it
 * waits for the tasks before it.
 */
export function readChecklist(markdown: string): Checklist {
  const items = leavesOf(readItems(markdown), []);
  const ids = uniqueIds(items);
  const depends = dependencies(items, ids);
  const done: string[] = [];
  const tasks: TaskInput[] = [];
  for (const [index, item] of items.entries()) {
    const id = ids[index] ?? '';
    if (item.ticked) done.push(`${id} ${item.title}`);
    else tasks.push(taskOf(item, id, depends[index] ?? []));
  }
  return { tasks, done };
}

function readItems(markdown: string): Item[] {
  const roots: Item[] = [];
  const open: Item[] = [];
  let heading = '';
  let fenced = false;
  for (const line of markdown.split(/\r?\n/)) {
    if (/^\s*(```|~~~)/.test(line)) fenced = !fenced;
    const title = fenced ? undefined : /^#{1,6}\s+(.+?)\s*#*$/.exec(line)?.[1];
    const match = fenced ? null : itemPattern.exec(line);
    if (title !== undefined) {
      heading = title;
      open.length = 0;
    } else if (match) {
      const item = itemOf(match, heading);
      while (open.length > 0 && (open.at(-1)?.indent ?? 0) >= item.indent) open.pop();
      (open.at(-1)?.children ?? roots).push(item);
      open.push(item);
    } else if (line.trim() !== '') {
      const indent = widthOf(/^\s*/.exec(line)?.[0] ?? '');
      open.findLast((item) => item.indent < indent)?.lines.push(line.trim());
    }
  }
  return roots;
}

function itemOf(match: RegExpExecArray, heading: string): Item {
  const [, indent = '', tick = '', text = ''] = match;
  const plain = text.replace(/^\*\*(.+?)\*\*/, '$1');
  const [, id, named] = idPattern.exec(plain) ?? [];
  const tags: string[] = [];
  let title = named ?? plain;
  for (let tag = tagPattern.exec(title); tag?.[2]; tag = tagPattern.exec(title)) {
    tags.push(tag[1] ?? '');
    title = tag[2];
  }
  return {
    indent: widthOf(indent),
    ticked: tick !== ' ',
    id,
    title: title.replaceAll('**', '').trim(),
    parallel: tags.includes('P'),
    tags: tags.filter((tag) => tag !== 'P'),
    heading,
    lines: [],
    children: [],
  };
}

const widthOf = (indent: string): number => indent.replaceAll('\t', '    ').length;

function leavesOf(items: readonly Item[], above: readonly string[]): Item[] {
  return items.flatMap((item) => {
    const groups = item.children.some(({ id }) => id !== undefined);
    if (groups) return leavesOf(item.children, [...above, item.title]);
    const heading = [item.heading, ...above].filter((part) => part !== '').join(' / ');
    return [{ ...item, heading, lines: [...item.lines, ...item.children.flatMap(detailsOf)] }];
  });
}

const detailsOf = ({ ticked, title, lines, children }: Item): string[] => [
  `- [${ticked ? 'x' : ' '}] ${title}`,
  ...lines,
  ...children.flatMap(detailsOf),
];

/** A repeated id gets a numeric suffix; an item without an id gets its index. */
function uniqueIds(items: readonly Item[]): string[] {
  const taken = new Set<string>();
  return items.map(({ id }, index) => {
    const wanted = id !== undefined && safeId.test(id) ? id : `task-${index + 1}`;
    let free = wanted;
    for (let number = 2; taken.has(free); number += 1) free = `${wanted}-${number}`;
    taken.add(free);
    return free;
  });
}

/** A `[P]` block waits for the tasks before it, and the task after it waits for the whole block. Ticked tasks do not count. */
function dependencies(items: readonly Item[], ids: readonly string[]): string[][] {
  if (!items.some(({ parallel }) => parallel)) return items.map(() => []);
  let before: string[] = [];
  let block: string[] = [];
  return items.map((item, index) => {
    const id = ids[index] ?? '';
    if (item.ticked) return [];
    // A section starts when the previous one is done.
    if (item.heading !== items[index - 1]?.heading && block.length > 0) {
      before = block;
      block = [];
    }
    if (item.parallel) {
      block.push(id);
      return [...before];
    }
    const waits = block.length > 0 ? block : before;
    block = [];
    before = [id];
    return [...waits];
  });
}

function taskOf({ title, heading, tags, lines }: Item, id: string, depends_on: string[]): TaskInput {
  const description = [
    ...(heading === '' ? [] : [`Part of: ${heading}`]),
    ...(tags.length === 0 ? [] : [`Story: ${tags.join(', ')}`]),
    ...lines,
  ].join('\n');
  return {
    id,
    title,
    ...(description === '' ? {} : { description }),
    ...(depends_on.length === 0 ? {} : { depends_on }),
  };
}
