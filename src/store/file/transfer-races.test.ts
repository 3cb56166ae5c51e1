import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { mustLoad, note } from '../../../test/kit/sample-run.ts';
import {
  begun,
  copyOf,
  impatient,
  journal,
  machine,
  meanwhile,
  none,
  run,
  transferOf,
} from '../../../test/kit/transfer-machines.ts';
import { openStore } from './temporary.ts';

describe('while others work', () => {
  async function parted() {
    const a = await begun('one');
    const b = copyOf(a);
    await a.say('on a');
    await b.say('on b');
    return { b, theirs: await a.carried(), tail: (await b.carried()).lines.at(-1)?.hash ?? '' };
  }
  const loads = (directory: string): Promise<unknown> => openStore(directory, { machine: 'b' }).load(run);

  test('an exchange is not spoilt by a reader that writes state.json from the old journal after it', async () => {
    const { b, theirs, tail } = await parted();
    const state = join(b.directory, run, 'state.json');
    await loads(b.directory);
    const stale = readFileSync(state);
    await b.transfer.exchange(theirs, none, tail);
    writeFileSync(state, stale);
    expect((await openStore(b.directory).check(run))?.problems).toEqual([]);
    expect((await mustLoad(openStore(b.directory), run)).version.hash).toBe(theirs.lines.at(-1)?.hash);
    expect(readFileSync(state)).not.toEqual(stale);
  });

  test('a repair is not spoilt by a reader that writes state.json from the old journal after it', async () => {
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

  test('a state.json whose batch is nowhere is damage, whatever was set aside', async () => {
    const { b, theirs, tail } = await parted();
    await b.transfer.exchange(theirs, none, tail);
    await b.say('goes on');
    const file = join(b.directory, run, 'journal.jsonl');
    writeFileSync(file, `\n${journal(b).slice(0, -1).join('\n')}\n`);
    await expect(loads(b.directory)).rejects.toMatchObject({ code: 'store_corrupt' });
  });

  test('what is accepted at the last moment of an exchange is in the file that keeps the old history', async () => {
    const { b, theirs, tail } = await parted();
    const late = transferOf(
      b.directory,
      meanwhile('rename', 'journal.jsonl', () => b.say('accepted and answered')),
    );
    const aside = await late.exchange(theirs, none, tail);
    expect(readFileSync(join(b.directory, run, aside), 'utf8')).toContain('accepted and answered');
    expect(journal(b).join()).not.toContain('accepted and answered');
    expect((await mustLoad(openStore(b.directory), run)).version.hash).toBe(theirs.lines.at(-1)?.hash);
  });

  test('what was accepted before the last look keeps an exchange from happening', async () => {
    const { b, theirs, tail } = await parted();
    const late = transferOf(
      b.directory,
      meanwhile('size', 'journal.jsonl', () => b.say('accepted')),
    );
    await expect(late.exchange(theirs, none, tail)).rejects.toMatchObject({ code: 'busy' });
    expect(journal(b).join()).toContain('accepted');
    expect(readdirSync(join(b.directory, run)).filter((name) => /aside|tmp/.test(name))).toEqual([]);
  });

  test('a writer whose line would land in the new journal is told that it was late, and leaves nothing there', async () => {
    const { b, theirs, tail } = await parted();
    const files = impatient();
    let exchanged: Promise<unknown> | undefined;
    const writer = openStore(b.directory, {
      machine: 'b',
      files: {
        ...files,
        append: async (path, bytes, only) => {
          exchanged ??= b.transfer.exchange(theirs, none, tail);
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

  test('what is accepted at the last moment of a pull makes a fork that names both ways out', async () => {
    const a = await begun('one');
    const b = copyOf(a);
    await a.say('on a');
    const late = transferOf(
      b.directory,
      meanwhile('rename', 'journal.jsonl', () => b.say('accepted and answered')),
    );
    const error = await late.receive(await a.carried(), none).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'store_forked' });
    const ids = (await openStore(b.directory).check(run))?.branches.map(({ id }) => id) ?? [];
    expect(ids).toHaveLength(2);
    for (const id of ids) expect(error.message).toContain(`stepfast repair ${run} --keep ${id}`);
    expect(journal(b).join()).toContain('accepted and answered');
  });

  test('whoever knows the run from before reads the new journal whole, and makes its name durable', async () => {
    const a = await begun('one');
    const b = copyOf(a);
    const state = join(b.directory, run, 'state.json');
    const stale = readFileSync(state);
    await a.say('two');
    await b.transfer.receive(await a.carried(), none);
    writeFileSync(state, stale);
    const durable: string[] = [];
    const syncDirectory = async (path: string): Promise<void> => {
      durable.push(path);
    };
    await openStore(b.directory, { files: { ...impatient(), syncDirectory } }).load(run);
    expect(durable).toContain(join(b.directory, run));
  });

  test('a reader answers from no history that was set aside before it made it durable', async () => {
    const { b, theirs, tail } = await parted();
    const state = join(b.directory, run, 'state.json');
    const stale = readFileSync(state);
    await b.say('written, and durable for nobody yet');
    const newest = (await b.carried()).lines.at(-1)?.hash ?? tail;
    writeFileSync(state, stale);
    let exchanged: Promise<unknown> | undefined;
    const sync = async (): Promise<void> => {
      exchanged ??= b.transfer.exchange(theirs, none, newest);
      await exchanged;
    };
    const loaded = await mustLoad(openStore(b.directory, { files: { ...impatient(), sync } }), run);
    expect(loaded.version.hash).toBe(theirs.lines.at(-1)?.hash);
  });

  test('two pulls of a new run at once both come to their end, and leave nothing beside it', async () => {
    const a = await begun('one');
    const theirs = await a.carried();
    const b = machine('b');
    const first = transferOf(
      b.directory,
      meanwhile('rename', run, () => transferOf(b.directory).receive(theirs, none)),
    );
    await first.receive(theirs, none);
    expect(readdirSync(b.directory)).toEqual([run]);
    expect(journal(b)).toEqual(journal(a));
  });

  test('two pulls of the same further batches both come to their end, one of fewer too', async () => {
    const a = await begun('one');
    const b = copyOf(a);
    await a.say('two');
    const fewer = await a.carried();
    await a.say('three');
    const theirs = await a.carried();
    await Promise.all([b.transfer.receive(theirs, none), transferOf(b.directory).receive(theirs, none)]);
    await b.transfer.receive(fewer, none);
    expect(journal(b)).toEqual(journal(a));
    expect(readdirSync(join(b.directory, run)).sort()).toEqual([
      'journal.jsonl',
      'state.json',
      'workflow.json',
    ]);
  });

  test('without hard links a copy keeps the old history', async () => {
    const { b, theirs, tail } = await parted();
    const old = journal(b);
    const link = async (): Promise<never> => {
      throw Object.assign(new Error('not here'), { code: 'EPERM' });
    };
    const aside = await transferOf(b.directory, { ...impatient(), link }).exchange(theirs, none, tail);
    expect(
      readFileSync(join(b.directory, run, aside), 'utf8')
        .split('\n')
        .filter(Boolean),
    ).toEqual(old);
  });

  test('what a crash left of an exchange does not stand in the way for long', async () => {
    const { b, theirs, tail } = await parted();
    writeFileSync(join(b.directory, run, 'replacing.lock'), 'somebody who is gone');
    let slept = 0;
    const sleep = async (ms: number): Promise<void> => {
      slept += ms;
    };
    await transferOf(b.directory, { ...impatient(), sleep }).exchange(theirs, none, tail);
    expect(slept).toBeGreaterThan(10_000);
    expect(slept).toBeLessThan(20_000);
    expect(readdirSync(join(b.directory, run)).filter((name) => name.includes('lock'))).toEqual([]);
  });
});
