import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openStore } from '../../../test/kit/file-store.ts';
import { mustLoad, note } from '../../../test/kit/sample-run.ts';
import {
  begun,
  copyOf,
  impatient,
  journal,
  machine,
  none,
  run,
  transferOf,
} from '../../../test/kit/transfer.ts';
import type { Files } from './files.ts';

/** Runs an action before the first call of a method on a path with this suffix. */
function meanwhile(call: 'rename' | 'size', end: string, act: () => Promise<unknown>): Files {
  const files = impatient();
  let done = false;
  const once = async (kind: typeof call, path: string): Promise<void> => {
    if (done || kind !== call || !path.endsWith(end)) return;
    done = true;
    await act();
  };
  return {
    ...files,
    rename: async (from, to) => {
      await once('rename', to);
      await files.rename(from, to);
    },
    size: async (path) => {
      await once('size', path);
      return files.size(path);
    },
  };
}

describe('with concurrent processes', () => {
  async function parted() {
    const a = await begun('one');
    const b = copyOf(a);
    await a.say('on a');
    await b.say('on b');
    return { b, theirs: await a.history(), tail: (await b.history()).lines.at(-1)?.hash ?? '' };
  }
  const loads = (directory: string): Promise<unknown> => openStore(directory, { machine: 'b' }).load(run);

  test('a replacement survives a reader that writes state.json from the old journal after it', async () => {
    const { b, theirs, tail } = await parted();
    const state = join(b.directory, run, 'state.json');
    await loads(b.directory);
    const stale = readFileSync(state);
    await b.transfer.replace(theirs, none, tail);
    writeFileSync(state, stale);
    expect((await openStore(b.directory).check(run))?.problems).toEqual([]);
    expect((await mustLoad(openStore(b.directory), run)).version.hash).toBe(theirs.lines.at(-1)?.hash);
    expect(readFileSync(state)).not.toEqual(stale);
  });

  test('a repair survives a reader that writes state.json from the old journal after it', async () => {
    const a = await begun('one', 'two', 'three');
    const state = join(a.directory, run, 'state.json');
    const stale = readFileSync(state);
    const file = join(a.directory, run, 'journal.jsonl');
    const lines = readFileSync(file, 'utf8').split('\n');
    // A load from the snapshot does not see that a line in the middle is damaged.
    writeFileSync(
      file,
      lines.map((line) => (line.includes('"two"') ? line.replace('two', 'TWO') : line)).join('\n'),
    );
    await openStore(a.directory).repair(run);
    writeFileSync(state, stale);
    expect((await mustLoad(openStore(a.directory), run)).version.seq).toBe(2);
  });

  test('a state.json whose batch is in no journal is damage', async () => {
    const { b, theirs, tail } = await parted();
    await b.transfer.replace(theirs, none, tail);
    await b.say('goes on');
    const file = join(b.directory, run, 'journal.jsonl');
    writeFileSync(file, `\n${journal(b).slice(0, -1).join('\n')}\n`);
    await expect(loads(b.directory)).rejects.toMatchObject({ code: 'store_corrupt' });
  });

  test('a batch accepted at the last moment of a replacement is in the file with the old history', async () => {
    const { b, theirs, tail } = await parted();
    const late = transferOf(
      b.directory,
      meanwhile('rename', 'journal.jsonl', () => b.say('accepted and answered')),
    );
    const aside = await late.replace(theirs, none, tail);
    expect(readFileSync(join(b.directory, run, aside), 'utf8')).toContain('accepted and answered');
    expect(journal(b).join()).not.toContain('accepted and answered');
    expect((await mustLoad(openStore(b.directory), run)).version.hash).toBe(theirs.lines.at(-1)?.hash);
  });

  test('a batch accepted before the last check prevents the replacement', async () => {
    const { b, theirs, tail } = await parted();
    const late = transferOf(
      b.directory,
      meanwhile('size', 'journal.jsonl', () => b.say('accepted')),
    );
    await expect(late.replace(theirs, none, tail)).rejects.toMatchObject({ code: 'busy' });
    expect(journal(b).join()).toContain('accepted');
    expect(readdirSync(join(b.directory, run)).filter((name) => /aside|tmp/.test(name))).toEqual([]);
  });

  test('a writer whose line would land in the new journal gets a conflict and writes nothing there', async () => {
    const { b, theirs, tail } = await parted();
    const files = impatient();
    let exchanged: Promise<unknown> | undefined;
    const writer = openStore(b.directory, {
      machine: 'b',
      files: {
        ...files,
        append: async (path, bytes, only) => {
          exchanged ??= b.transfer.replace(theirs, none, tail);
          await exchanged;
          return files.append(path, bytes, only);
        },
      },
    });
    expect(await note(writer, run, 'late')).toBe('conflict');
    expect(journal(b).join()).not.toContain('late');
    expect((await openStore(b.directory).check(run))?.problems).toEqual([]);
    expect(await note(writer, run, 'again')).toMatchObject({ seq: theirs.lines.length + 1 });
  });

  test('a batch accepted at the last moment of a pull makes a fork whose error names both repairs', async () => {
    const a = await begun('one');
    const b = copyOf(a);
    await a.say('on a');
    const late = transferOf(
      b.directory,
      meanwhile('rename', 'journal.jsonl', () => b.say('accepted and answered')),
    );
    const error = await late.receive(await a.history(), none).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'store_forked' });
    const ids = (await openStore(b.directory).check(run))?.branches.map(({ id }) => id) ?? [];
    expect(ids).toHaveLength(2);
    for (const id of ids) expect(error.message).toContain(`stepfast repair ${run} --keep ${id}`);
    expect(journal(b).join()).toContain('accepted and answered');
  });

  test('a process that knows the old journal reads the whole new one and syncs its name', async () => {
    const a = await begun('one');
    const b = copyOf(a);
    const state = join(b.directory, run, 'state.json');
    const stale = readFileSync(state);
    await a.say('two');
    await b.transfer.receive(await a.history(), none);
    writeFileSync(state, stale);
    const durable: string[] = [];
    const syncDirectory = async (path: string): Promise<void> => {
      durable.push(path);
    };
    await openStore(b.directory, { files: { ...impatient(), syncDirectory } }).load(run);
    expect(durable).toContain(join(b.directory, run));
  });

  test('a reader returns no history that was replaced before its sync', async () => {
    const { b, theirs, tail } = await parted();
    const state = join(b.directory, run, 'state.json');
    const stale = readFileSync(state);
    await b.say('written, but not durable yet');
    const newest = (await b.history()).lines.at(-1)?.hash ?? tail;
    writeFileSync(state, stale);
    let exchanged: Promise<unknown> | undefined;
    const sync = async (): Promise<void> => {
      exchanged ??= b.transfer.replace(theirs, none, newest);
      await exchanged;
    };
    const loaded = await mustLoad(openStore(b.directory, { files: { ...impatient(), sync } }), run);
    expect(loaded.version.hash).toBe(theirs.lines.at(-1)?.hash);
  });

  test('two concurrent pulls of a new run both succeed and leave no temporary files', async () => {
    const a = await begun('one');
    const theirs = await a.history();
    const b = machine('b');
    const first = transferOf(
      b.directory,
      meanwhile('rename', run, () => transferOf(b.directory).receive(theirs, none)),
    );
    await first.receive(theirs, none);
    expect(readdirSync(b.directory)).toEqual([run]);
    expect(journal(b)).toEqual(journal(a));
  });

  test('two concurrent pulls of the same batches both succeed, also if one has fewer', async () => {
    const a = await begun('one');
    const b = copyOf(a);
    await a.say('two');
    const fewer = await a.history();
    await a.say('three');
    const theirs = await a.history();
    await Promise.all([b.transfer.receive(theirs, none), transferOf(b.directory).receive(theirs, none)]);
    await b.transfer.receive(fewer, none);
    expect(journal(b)).toEqual(journal(a));
    expect(readdirSync(join(b.directory, run)).sort()).toEqual([
      'journal.jsonl',
      'state.json',
      'workflow.json',
    ]);
  });

  test('without hard links the old history is kept as a copy', async () => {
    const { b, theirs, tail } = await parted();
    const old = journal(b);
    const link = async (): Promise<never> => {
      throw Object.assign(new Error('not here'), { code: 'EPERM' });
    };
    const aside = await transferOf(b.directory, { ...impatient(), link }).replace(theirs, none, tail);
    expect(
      readFileSync(join(b.directory, run, aside), 'utf8')
        .split('\n')
        .filter(Boolean),
    ).toEqual(old);
  });

  test('leftovers of a crashed replacement block others only briefly', async () => {
    const { b, theirs, tail } = await parted();
    writeFileSync(join(b.directory, run, 'replacing.lock'), 'a process that is gone');
    let slept = 0;
    const sleep = async (ms: number): Promise<void> => {
      slept += ms;
    };
    await transferOf(b.directory, { ...impatient(), sleep }).replace(theirs, none, tail);
    expect(slept).toBeGreaterThan(10_000);
    expect(slept).toBeLessThan(20_000);
    expect(readdirSync(join(b.directory, run)).filter((name) => name.includes('lock'))).toEqual([]);
  });
});
