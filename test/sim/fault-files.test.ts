import { expect, test } from 'vitest';
import type { Files } from '../../src/store/index.ts';
import { Dice } from '../properties/dice.ts';
import { createDisk } from './disk.ts';
import { createMachine, type Faults, type Machine, noFaults } from './fault-files.ts';
import { createScheduler, type Process, type Scheduler } from './scheduler.ts';

interface Bench {
  machine: Machine;
  scheduler: Scheduler;
  files: Files;
  process: Process;
  died: number[];
  /** What `work` gave, or what it threw; undefined where its process died. */
  play<T>(work: Promise<T>): Promise<T | Error | undefined>;
}

function bench(seed: number, faults: Partial<Faults> = {}): Bench {
  const dice = new Dice(seed);
  const scheduler = createScheduler(dice, 0);
  const died: number[] = [];
  const machine = createMachine({
    disk: createDisk(),
    dice,
    scheduler,
    faults: { ...noFaults, ...faults },
    died: ({ number }) => died.push(number),
  });
  const { files, process } = machine.spawn();
  const play = async <T>(work: Promise<T>): Promise<T | Error | undefined> => {
    let outcome: T | Error | undefined;
    work.then(
      (value) => {
        outcome = value;
      },
      (error: Error) => {
        outcome = error;
      },
    );
    await scheduler.run(() => false, 10_000);
    return outcome;
  };
  return { machine, scheduler, files, process, died, play };
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (read: unknown): string | undefined =>
  read instanceof Uint8Array ? new TextDecoder().decode(read) : undefined;

/** What is read at `path` after a power loss, over many seeds. */
async function afterPowerLoss(path: string, work: (files: Files) => Promise<unknown>): Promise<Set<string>> {
  const seen = new Set<string>();
  for (let seed = 0; seed < 200; seed += 1) {
    const { machine, files, play } = bench(seed);
    await play(work(files));
    machine.losePower();
    const next = machine.spawn();
    const read = await play(next.files.read(path));
    seen.add(text(read) ?? 'no file');
  }
  return seen;
}

test('bytes without a sync survive a power loss whole, torn, scribbled over, or not at all', async () => {
  const seen = await afterPowerLoss('/f', async (files) => {
    await files.create('/f', bytes('old|'));
    await files.sync('/f');
    await files.syncDirectory('/');
    await files.append('/f', bytes('new line'));
  });
  expect(seen).toContain('old|');
  expect(seen).toContain('old|new line');
  expect(seen).toContain('old|new lin');
  expect(seen).toContain('old|n\0\0\0\0\0\0\0');
  expect(seen.size).toBeGreaterThan(20);
  expect([...seen].filter((read) => !read.startsWith('old|'))).toEqual([]);
});

test('a rename is whole: the old file or the new one, and the new one for sure after a sync of the directory', async () => {
  const replace = async (files: Files): Promise<void> => {
    await files.create('/f', bytes('old'));
    await files.sync('/f');
    await files.syncDirectory('/');
    await files.create('/t', bytes('new'));
    await files.sync('/t');
    await files.rename('/t', '/f');
  };
  expect([...(await afterPowerLoss('/f', replace))].sort()).toEqual(['new', 'old']);
  const synced = await afterPowerLoss('/f', async (files) => {
    await replace(files);
    await files.syncDirectory('/');
  });
  expect([...synced]).toEqual(['new']);
});

test('a removed name may come back after a power loss', async () => {
  const seen = await afterPowerLoss('/f', async (files) => {
    await files.create('/f', bytes('lock'));
    await files.sync('/f');
    await files.syncDirectory('/');
    await files.remove('/f');
  });
  expect([...seen].sort()).toEqual(['lock', 'no file']);
});

test('a crash comes before, within or after a write', async () => {
  const seen = new Set<string>();
  for (let seed = 0; seed < 400; seed += 1) {
    const { machine, files, process, play } = bench(seed, { kill: 3 });
    await play(files.append('/f', bytes('abc')));
    if (process.alive) continue;
    machine.faults = noFaults;
    seen.add(text(await play(machine.spawn().files.read('/f'))) ?? 'no file');
  }
  expect([...seen].sort()).toEqual(['', 'a', 'ab', 'abc', 'no file']);
});

test('writes are short, the disk fills up and recovers, and the medium fails on reads, writes and syncs', async () => {
  const seen = new Set<string>();
  for (let seed = 0; seed < 400; seed += 1) {
    const { machine, files, play } = bench(seed, { ioError: 6, shortWrite: 6, full: 6 });
    for (const [name, work] of [
      ['append', () => files.append('/f', bytes('abcdef'))],
      ['read', () => files.read('/f')],
      ['sync', () => files.sync('/f')],
    ] as const) {
      const outcome = await play<unknown>(work());
      if (outcome instanceof Error) seen.add(`${name} ${'code' in outcome ? outcome.code : outcome.name}`);
      else if (name === 'append') seen.add(outcome === 6 ? 'whole' : 'short');
    }
    const before = machine.disk.file('/f')?.length ?? 0;
    machine.faults = noFaults;
    for (let tries = 0; tries < 16; tries += 1) await play(files.append('/f', bytes('x')));
    expect(machine.disk.file('/f')?.length).toBeGreaterThan(before);
  }
  expect(seen).toEqual(new Set(['append EIO', 'append ENOSPC', 'read EIO', 'sync EIO', 'short', 'whole']));
});

test('a failed sync leaves the bytes unsynced, the next good one makes them durable', async () => {
  let failed = 0;
  let lost = 0;
  for (let seed = 0; seed < 200; seed += 1) {
    const { machine, files, play } = bench(seed);
    await play(files.create('/f', bytes('x')));
    await play(files.syncDirectory('/'));
    machine.faults = { ...noFaults, ioError: 2 };
    if (!((await play(files.sync('/f'))) instanceof Error)) continue;
    failed += 1;
    machine.faults = noFaults;
    const again = seed % 2 === 0;
    if (again) await play(files.sync('/f'));
    machine.losePower();
    const kept = text(await play(machine.spawn().files.read('/f'))) === 'x';
    if (again) expect(kept).toBe(true);
    else if (!kept) lost += 1;
  }
  expect(failed).toBeGreaterThan(50);
  expect(lost).toBeGreaterThan(10);
});

test('two writers never mix their bytes, and a reader may see a part of a write', async () => {
  const parts = new Set<string>();
  for (let seed = 0; seed < 300; seed += 1) {
    const { machine, files, play } = bench(seed);
    // Two calls of one process are two writes as well.
    const other = seed % 2 === 0 ? machine.spawn().files : files;
    const reader = machine.spawn();
    const both = Promise.all([files.append('/f', bytes('aaaa')), other.append('/f', bytes('bbbb'))]);
    const read = reader.files.read('/f').then((seen) => parts.add(text(seen) ?? ''));
    await play(Promise.all([both, read]));
    expect(['aaaabbbb', 'bbbbaaaa']).toContain(text(await play(files.read('/f'))));
  }
  expect([...parts].some((part) => part.length % 4 !== 0)).toBe(true);
});
