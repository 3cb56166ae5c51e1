import type { Dice } from '../properties/dice.ts';

/**
 * A file system with a page cache over a disk. Bytes reach the disk by `sync`, names by `syncDirectory`; what has
 * not reached it survives a power loss by the dice: not at all, whole, torn, or with something else in its place.
 * Paths are absolute. Errors carry Node's codes. Every call is one atomic step.
 */
export interface Disk {
  file(path: string): FileNode | undefined;
  /** An empty file; EEXIST where the name is taken. */
  make(path: string): FileNode;
  write(file: FileNode, bytes: Uint8Array): void;
  sync(path: string): void;
  syncDirectory(path: string): void;
  /** Onto a file, an empty directory or nothing. */
  rename(from: string, to: string): void;
  /** A second name of a file; EEXIST where it is taken. */
  link(from: string, to: string): void;
  makeDirectory(path: string): void;
  names(path: string): string[] | undefined;
  /** One name; a directory must be empty. */
  remove(path: string): void;
  /** The page cache is gone. */
  losePower(dice: Dice): void;
}

/** While there is power, bytes are only ever added: a view of them stays what it was. */
export interface FileNode {
  kind: 'file';
  room: Uint8Array;
  length: number;
  /** How many of the bytes are on the disk. */
  synced: number;
}

interface DirectoryNode {
  kind: 'directory';
  names: Map<string, Node>;
  /** As on the disk. */
  durable: Map<string, Node>;
  /** Since the last sync, in order; each is atomic. */
  changes: Change[];
}

type Node = FileNode | DirectoryNode;

interface Change {
  put?: { name: string; node: Node };
  drop?: string;
}

export function createDisk(): Disk {
  const root = directory();

  const find = (path: string): Node | undefined => {
    let node: Node = root;
    for (let from = 1; from < path.length; ) {
      const slash = path.indexOf('/', from);
      const end = slash < 0 ? path.length : slash;
      const next: Node | undefined =
        node.kind === 'directory' ? node.names.get(path.slice(from, end)) : undefined;
      if (!next) return undefined;
      node = next;
      from = end + 1;
    }
    return node;
  };

  const directoryAt = (path: string): DirectoryNode => {
    const node = find(path);
    if (!node) throw systemError('ENOENT', path);
    if (node.kind !== 'directory') throw systemError('ENOTDIR', path);
    return node;
  };

  const add = (path: string, node: Node): void => {
    const { parent, name } = split(path);
    const into = directoryAt(parent);
    if (into.names.has(name)) throw systemError('EEXIST', path);
    change(into, { put: { name, node } });
  };

  return {
    file: (path) => {
      const node = find(path);
      if (node?.kind === 'directory') throw systemError('EISDIR', path);
      return node;
    },
    make: (path) => {
      const file: FileNode = { kind: 'file', room: new Uint8Array(256), length: 0, synced: 0 };
      add(path, file);
      return file;
    },
    write,
    sync: (path) => {
      const node = find(path);
      if (node?.kind !== 'file') throw systemError('ENOENT', path);
      node.synced = node.length;
    },
    syncDirectory: (path) => {
      const node = directoryAt(path);
      node.durable = new Map(node.names);
      node.changes = [];
    },
    rename: (from, to) => {
      const source = split(from);
      const target = split(to);
      const node = find(from);
      if (!node) throw systemError('ENOENT', from);
      const into = directoryAt(target.parent);
      const there = find(to);
      if (there?.kind === 'directory' && there.names.size > 0) throw systemError('ENOTEMPTY', to);
      if (source.parent === target.parent) {
        change(into, { put: { name: target.name, node }, drop: source.name });
        return;
      }
      change(into, { put: { name: target.name, node } });
      change(directoryAt(source.parent), { drop: source.name });
    },
    link: (from, to) => {
      const node = find(from);
      if (node?.kind !== 'file') throw systemError('ENOENT', from);
      add(to, node);
    },
    makeDirectory: (path) => add(path, directory()),
    names: (path) => {
      const node = find(path);
      return node?.kind === 'directory' ? [...node.names.keys()] : undefined;
    },
    remove: (path) => {
      const { parent, name } = split(path);
      const node = find(path);
      if (!node) throw systemError('ENOENT', path);
      if (node.kind === 'directory' && node.names.size > 0) throw systemError('ENOTEMPTY', path);
      change(directoryAt(parent), { drop: name });
    },
    losePower: (dice) => survive(root, dice),
  };
}

/** Without a stack: there are too many of them. */
export function systemError(code: string, path: string): NodeJS.ErrnoException {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const error = Object.assign(new Error(`${code}: ${path}`), { code, path });
  Error.stackTraceLimit = stackTraceLimit;
  return error;
}

const directory = (): DirectoryNode => ({
  kind: 'directory',
  names: new Map(),
  durable: new Map(),
  changes: [],
});

function change(into: DirectoryNode, made: Change): void {
  apply(into.names, made);
  into.changes.push(made);
}

function apply(names: Map<string, Node>, { put, drop }: Change): void {
  if (drop !== undefined) names.delete(drop);
  if (put) names.set(put.name, put.node);
}

function write(file: FileNode, bytes: Uint8Array): void {
  const length = file.length + bytes.length;
  if (length > file.room.length) {
    const room = new Uint8Array(Math.max(length, file.room.length * 2));
    room.set(file.room.subarray(0, file.length));
    file.room = room;
  }
  file.room.set(bytes, file.length);
  file.length = length;
}

function survive(node: Node, dice: Dice): void {
  if (node.kind === 'file') return surviveTail(node, dice);
  for (const made of node.changes) if (dice.one(2)) apply(node.durable, made);
  node.names = new Map(node.durable);
  node.changes = [];
  for (const child of node.names.values()) survive(child, dice);
}

const fates = ['lost', 'lost', 'whole', 'whole', 'torn', 'torn', 'zeros', 'noise', 'stale', 'hole'] as const;

function surviveTail(file: FileNode, dice: Dice): void {
  const { synced, length } = file;
  if (synced === length) return;
  const { room } = file;
  const cut = synced + edge(dice, length - synced);
  const fate = dice.pick(fates);
  if (fate === 'lost') file.length = synced;
  if (fate === 'torn') file.length = cut;
  file.synced = file.length;
  if (fate === 'hole') room.fill(0, synced, cut);
  if (fate === 'zeros') room.fill(0, cut, length);
  // What the blocks held before: anything, or bytes of the same file.
  if (fate === 'noise') for (let index = cut; index < length; index += 1) room[index] = dice.roll(256);
  if (fate === 'stale') room.set(room.subarray(0, length - cut), cut);
}

/** Up to `length`, the places beside the ends as likely as all between. */
export function edge(dice: Dice, length: number): number {
  if (length < 4 || dice.one(2)) return dice.roll(length + 1);
  return dice.pick([0, 1, length - 2, length - 1]) ?? 0;
}

const split = (path: string): { parent: string; name: string } => {
  const slash = path.lastIndexOf('/');
  return { parent: path.slice(0, slash), name: path.slice(slash + 1) };
};
