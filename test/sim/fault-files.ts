import type { AppendCondition, Files } from '../../src/store/index.ts';
import type { Dice } from '../properties/dice.ts';
import { type Disk, edge, type FileNode, systemError } from './disk.ts';
import type { Process, Scheduler } from './scheduler.ts';

/** What a call of a process that was killed meets. */
export class Crashed extends Error {
  override name = 'Crashed';
}

/** How often things go wrong: once in so many calls, 0 for never. */
export interface Faults {
  kill: number;
  powerLoss: number;
  ioError: number;
  shortWrite: number;
  /** The disk fills up, for some calls. */
  full: number;
}

export const noFaults: Faults = { kill: 0, powerLoss: 0, ioError: 0, shortWrite: 0, full: 0 };

/** Files of one machine: its processes share the disk, the scheduler decides whose call is next. */
export interface Machine {
  readonly disk: Disk;
  faults: Faults;
  /** A new process for each caller. */
  spawn(): { process: Process; files: Files };
  /** kill -9: what was written stays. */
  kill(process: Process): void;
  /** Every process is gone, and what was not synced may be. */
  losePower(): void;
  /** Those that `faults` brought about. */
  readonly crashes: { kills: number; powerLosses: number };
}

export interface MachineOptions {
  disk: Disk;
  dice: Dice;
  scheduler: Scheduler;
  faults?: Faults;
  /** Told after the fact, the processes that died by a power loss one by one. */
  died?: (process: Process) => void;
  trace?: (process: Process, call: CallName, path: string, outcome: string | number) => void;
}

export type CallName = keyof Files | 'kill' | 'powerLoss';

/** What a step of a call gives: `again` when another step is needed. */
type Outcome = { value: unknown } | { error: Error } | 'again';

export function createMachine(options: MachineOptions): Machine {
  const { disk, dice, scheduler, died, trace } = options;
  const running = new Set<Process>();
  /** A write in the kernel keeps other writers of the file out. */
  const writing = new Map<FileNode, { by: Process }>();
  let fullFor = 0;

  const machine: Machine = {
    disk,
    faults: options.faults ?? noFaults,
    crashes: { kills: 0, powerLosses: 0 },
    spawn: () => {
      const process = scheduler.spawn();
      running.add(process);
      return { process, files: filesOf(process) };
    },
    kill: (process) => {
      if (!process.alive) return;
      running.delete(process);
      scheduler.kill(process);
      for (const [file, { by }] of writing) if (by === process) writing.delete(file);
      died?.(process);
    },
    losePower: () => {
      const victims = [...running];
      writing.clear();
      fullFor = 0;
      disk.losePower(dice);
      for (const process of victims) machine.kill(process);
    },
  };

  const happens = (often: number): boolean => often > 0 && dice.one(often);

  /** Answers whether the caller is gone. */
  const crash = (process: Process): boolean => {
    if (happens(machine.faults.kill)) {
      machine.crashes.kills += 1;
      trace?.(process, 'kill', '', 0);
      machine.kill(process);
    } else if (happens(machine.faults.powerLoss)) {
      machine.crashes.powerLosses += 1;
      trace?.(process, 'powerLoss', '', 0);
      machine.losePower();
    }
    return !process.alive;
  };

  /** One call: its steps are taken one by one, and the caller can die before, between and after them. */
  const call = (process: Process, name: CallName, path: string, step: () => Outcome): Promise<never> =>
    new Promise((resolve, reject) => {
      if (!process.alive) return reject(new Crashed(`process ${process.number} is dead`));
      const perform = (): boolean => {
        if (crash(process)) return true;
        const outcome = attempt(step);
        if (outcome === 'again') return false;
        const told = 'error' in outcome ? codeOf(outcome.error) : sizeOf(outcome.value);
        trace?.(process, name, path, told);
        if (crash(process)) return true;
        if ('error' in outcome) reject(outcome.error);
        // The caller knows what its steps give.
        else resolve(outcome.value as never);
        return true;
      };
      scheduler.call({ process, perform });
    });

  /** Throws where the medium fails; nothing was done then. */
  const mayFail = (path: string): void => {
    if (happens(machine.faults.ioError)) throw systemError('EIO', path);
  };

  const mayBeFull = (path: string): void => {
    if (happens(machine.faults.full)) fullFor = 1 + dice.roll(12);
    if (fullFor === 0 || machine.faults.full === 0) return;
    fullFor -= 1;
    throw systemError('ENOSPC', path);
  };

  /** How many of the bytes the medium takes, and whether it fails after them. */
  const taken = (path: string, length: number): { bytes: number; error?: Error } => {
    mayBeFull(path);
    mayFail(path);
    if (length > 0 && happens(machine.faults.ioError))
      return { bytes: edge(dice, length), error: systemError(dice.one(2) ? 'EIO' : 'ENOSPC', path) };
    if (length > 0 && happens(machine.faults.shortWrite)) return { bytes: edge(dice, length) };
    return { bytes: length };
  };

  /** One `write`: readers may see a part of it before the rest, other writers wait. */
  const writeSteps = (
    process: Process,
    path: string,
    bytes: Uint8Array,
    open: () => FileNode | undefined,
    only?: AppendCondition,
  ): (() => Outcome) => {
    const write = { by: process };
    let opened: FileNode | undefined;
    let plan: { bytes: number; error?: Error } | undefined;
    let written = 0;
    let looked = false;
    return () => {
      if (!opened) {
        opened = open();
        if (!opened) return { value: -1 };
        if (dice.one(8)) return 'again';
      }
      if (
        only &&
        !looked &&
        !only.holds(opened.room.subarray(Math.min(only.from, opened.length), opened.length))
      )
        return { value: -1 };
      if (only && !looked && dice.one(8)) {
        looked = true;
        return 'again';
      }
      looked = true;
      if ((writing.get(opened) ?? write) !== write) return 'again';
      plan ??= taken(path, bytes.length);
      const rest = plan.bytes - written;
      const now = rest > 1 && written === 0 && dice.one(8) ? edge(dice, rest) : rest;
      disk.write(opened, bytes.subarray(written, written + now));
      written += now;
      if (written < plan.bytes) {
        writing.set(opened, write);
        return 'again';
      }
      writing.delete(opened);
      return plan.error ? { error: plan.error } : { value: written };
    };
  };

  const filesOf = (process: Process): Files => ({
    read: (path, from = 0) =>
      call(process, 'read', path, () => {
        mayFail(path);
        const file = disk.file(path);
        return { value: file?.room.subarray(Math.min(from, file.length), file.length) };
      }),
    size: (path) =>
      call(process, 'size', path, () => {
        mayFail(path);
        return { value: disk.file(path)?.length };
      }),
    append: (path, bytes, only) => {
      const open = (): FileNode | undefined => disk.file(path) ?? (only ? undefined : disk.make(path));
      return call(process, 'append', path, writeSteps(process, path, bytes, open, only));
    },
    create: (path, bytes) =>
      call(
        process,
        'create',
        path,
        writeSteps(process, path, bytes, () => {
          mayBeFull(path);
          return disk.make(path);
        }),
      ),
    sync: (path) =>
      call(process, 'sync', path, () => {
        mayFail(path);
        return { value: disk.sync(path) };
      }),
    syncDirectory: (path) =>
      call(process, 'syncDirectory', path, () => {
        mayFail(path);
        return { value: disk.syncDirectory(path) };
      }),
    rename: (from, to) =>
      call(process, 'rename', to, () => {
        mayFail(from);
        return { value: disk.rename(from, to) };
      }),
    link: (from, to) =>
      call(process, 'link', to, () => {
        mayBeFull(to);
        mayFail(to);
        return { value: disk.link(from, to) };
      }),
    makeDirectory: (path) =>
      call(process, 'makeDirectory', path, () => {
        mayBeFull(path);
        return { value: disk.makeDirectory(path) };
      }),
    names: (path) =>
      call(process, 'names', path, () => {
        mayFail(path);
        return { value: disk.names(path) ?? [] };
      }),
    remove: (path) =>
      call(process, 'remove', path, () => {
        mayFail(path);
        return removeOne(disk, path) ? { value: undefined } : 'again';
      }),
    sleep: (ms) =>
      new Promise((resolve, reject) => {
        if (!process.alive) return reject(new Crashed(`process ${process.number} is dead`));
        scheduler.after(ms, process, () => resolve());
      }),
  });

  return machine;
}

function attempt(step: () => Outcome): Outcome {
  try {
    return step();
  } catch (error) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }
}

/** The deepest first name goes; true when the path itself is gone. */
function removeOne(disk: Disk, path: string): boolean {
  const names = disk.names(path);
  const [first] = names ?? [];
  if (first !== undefined) {
    removeOne(disk, `${path}/${first}`);
    return false;
  }
  if (names || disk.file(path)) disk.remove(path);
  return true;
}

const codeOf = (error: Error): string => ('code' in error ? String(error.code) : error.name);

const sizeOf = (value: unknown): number => {
  if (typeof value === 'number') return value;
  if (value instanceof Uint8Array || Array.isArray(value)) return value.length;
  return value === undefined ? 0 : 1;
};
