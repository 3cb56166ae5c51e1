import { expect, test } from 'vitest';
import type { Files } from '../../src/store/index.ts';
import { Dice } from '../properties/dice.ts';
import { createDisk } from './disk.ts';
import { Crashed, createMachine, type Faults, type Machine, noFaults } from './fault-files.ts';
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

test('what was synced, and its name too, survives every power loss', async () => {
  const seen = await afterPowerLoss('/d/f', async (files) => {
    await files.makeDirectory('/d');
    await files.create('/d/f', bytes('kept'));
    await files.sync('/d/f');
    await files.syncDirectory('/d');
    await files.syncDirectory('/');
  });
  expect([...seen]).toEqual(['kept']);
});

test('a synced file is lost with a name that was not, of the file or of a directory above it', async () => {
  const file = await afterPowerLoss('/f', async (files) => {
    await files.create('/f', bytes('kept'));
    await files.sync('/f');
  });
  expect([...file].sort()).toEqual(['kept', 'no file']);
  const directory = await afterPowerLoss('/d/f', async (files) => {
    await files.makeDirectory('/d');
    await files.create('/d/f', bytes('kept'));
    await files.sync('/d/f');
    await files.syncDirectory('/d');
  });
  expect([...directory].sort()).toEqual(['kept', 'no file']);
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

test('what a killed process wrote stays, and another process can sync it', async () => {
  const { machine, files, process, play } = bench(1);
  await play(files.append('/f', bytes('written')));
  machine.kill(process);
  const other = machine.spawn();
  expect(text(await play(other.files.read('/f')))).toBe('written');
  await play(other.files.sync('/f'));
  await play(other.files.syncDirectory('/'));
  machine.losePower();
  expect(text(await play(machine.spawn().files.read('/f')))).toBe('written');
});

test('a dead process gets no answer to what it asked, and Crashed for what it asks', async () => {
  const { machine, files, process, died, play } = bench(1);
  const asked = files.append('/f', bytes('never'));
  machine.kill(process);
  expect(await play(asked)).toBeUndefined();
  expect(await play(files.read('/f'))).toBeInstanceOf(Crashed);
  expect(await play(files.sleep(5))).toBeInstanceOf(Crashed);
  expect(died).toEqual([1]);
  expect(machine.disk.file('/f')).toBeUndefined();
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

test('sleep is virtual: a day passes at once, and the earliest sleeper wakes first', async () => {
  const { files, scheduler, play } = bench(3);
  const woken: string[] = [];
  await play(
    Promise.all([
      files.sleep(86_400_000).then(() => woken.push('late')),
      files.sleep(200).then(() => woken.push('early')),
    ]),
  );
  expect(woken).toEqual(['early', 'late']);
  expect(scheduler.now).toBeGreaterThanOrEqual(86_400_000);
});

test('the same seed gives the same interleaving, another seed another', async () => {
  const play = async (seed: number): Promise<string> => {
    const { machine, play: run } = bench(seed);
    const writers = Array.from({ length: 6 }, () => machine.spawn());
    await run(
      Promise.all(
        writers.map(async ({ files, process }) => {
          for (let turn = 0; turn < 4; turn += 1) await files.append('/f', bytes(`${process.number},`));
        }),
      ),
    );
    return text(await run(machine.spawn().files.read('/f'))) ?? '';
  };
  expect(await play(7)).toBe(await play(7));
  expect(await play(7)).not.toBe(await play(8));
});
