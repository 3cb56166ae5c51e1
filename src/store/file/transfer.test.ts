import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openStore, temporaryDirectory, unsyncedFiles } from '../../../test/kit/file-store.ts';
import { begin, mustLoad, note } from '../../../test/kit/sample-run.ts';
import type { Files } from './files.ts';
import { encodeLine, genesis } from './journal.ts';
import {
  compareHistories,
  encodeHistory,
  type HistoryRelation,
  parseHistory,
  type RunHistory,
} from './run-history.ts';
import { createFileTransfer, type FileTransfer } from './transfer.ts';

const run = 'sample-1-abcd';

/** Sleeping takes no time, so that waiting for a crashed process's lock is instant. */
const impatient = (): Files => ({ ...unsyncedFiles(), sleep: async () => {} });

const transferOf = (directory: string, files: Files = impatient()): FileTransfer =>
  createFileTransfer({ directory, files, machine: 'here', nonce: () => randomBytes(6).toString('hex') });

interface Machine {
  directory: string;
  say(...texts: string[]): Promise<void>;
  history(): Promise<RunHistory>;
  transfer: FileTransfer;
}

function machine(name: string, directory = join(temporaryDirectory(), 'runs')): Machine {
  const store = openStore(directory, { machine: name });
  const transfer = transferOf(directory);
  return {
    directory,
    transfer,
    say: async (...texts) => {
      for (const text of texts) await note(store, run, text);
    },
    history: async () => {
      const found = await transfer.read(run);
      if (!found) throw new Error('there is no run');
      return found;
    },
  };
}

async function begun(...texts: string[]): Promise<Machine> {
  const here = machine('a');
  await begin(openStore(here.directory, { machine: 'a' }), run);
  await here.say(...texts);
  return here;
}

/** Another machine with a copy of the first one's run. */
function copyOf({ directory }: Machine): Machine {
  const other = join(temporaryDirectory(), 'runs');
  cpSync(directory, other, { recursive: true });
  return machine('b', other);
}

const none = new Map<string, Uint8Array>();
const journal = ({ directory }: Machine): string[] =>
  readFileSync(join(directory, run, 'journal.jsonl'), 'utf8')
    .split('\n')
    .filter(Boolean);

test.each<[string, string, string, HistoryRelation, number]>([
  ['the same', 'abc', 'abc', 'equal', 3],
  ['nothing and nothing', '', '', 'equal', 0],
  ['nothing here', '', 'ab', 'behind', 0],
  ['nothing there', 'ab', '', 'ahead', 0],
  ['theirs goes on', 'ab', 'abcd', 'behind', 2],
  ['mine goes on', 'abcd', 'ab', 'ahead', 2],
  ['both go on', 'abx', 'abcd', 'diverged', 2],
  ['the last one differs', 'abx', 'aby', 'diverged', 2],
  ['another first batch', 'xbc', 'abc', 'foreign', 0],
])('[P6/10] histories relate: %s', (_, mine, theirs, relation, common) => {
  const lines = (text: string): { hash: string }[] => [...text].map((hash) => ({ hash }));
  expect(compareHistories(lines(mine), lines(theirs))).toEqual({ relation, common });
});

test('[P6/10] two histories are compared by the batches after their common part', () => {
  const hashes = fc.array(fc.integer(), { maxLength: 6 });
  fc.assert(
    fc.property(hashes, hashes, hashes, (both, mine, theirs) => {
      const lines = (side: string, own: number[]): { hash: string }[] => [
        ...both.map((each, index) => ({ hash: `${index} ${each}` })),
        ...own.map((each) => ({ hash: `${side} ${each}` })),
      ];
      const [one, other] = [lines('mine', mine), lines('theirs', theirs)];
      const { relation, common } = compareHistories(one, other);
      expect(common).toBe(both.length);
      const apart = both.length === 0 ? 'foreign' : 'diverged';
      const expected =
        mine.length > 0 && theirs.length > 0
          ? apart
          : mine.length > 0
            ? 'ahead'
            : theirs.length > 0
              ? 'behind'
              : 'equal';
      expect(relation).toBe(expected);
      const back = { equal: 'equal', ahead: 'behind', behind: 'ahead', [apart]: apart }[relation];
      expect(compareHistories(other, one)).toEqual({ relation: back, common });
    }),
  );
});

describe('a transferred history', () => {
  test('has only the accepted lines and is the same on every machine', async () => {
    const a = await begun('one', 'two');
    const file = join(a.directory, run, 'journal.jsonl');
    const [first = '', second = ''] = journal(a);
    const loser = { ...JSON.parse(second), nonce: 'late' };
    const { bytes } = encodeLine(loser);
    writeFileSync(file, `${readFileSync(file, 'utf8')}${Buffer.from(bytes)}torn`);
    const sent = Buffer.from(encodeHistory((await a.history()).lines)).toString();
    expect(sent.split('\n').filter(Boolean)).toEqual([first, second, journal(a)[2]]);
    const received = parseHistory(run, Buffer.from(sent));
    expect(received.lines.map(({ hash }) => hash)).toEqual((await a.history()).lines.map(({ hash }) => hash));
    expect(Buffer.from(encodeHistory(received.lines)).toString()).toBe(sent);
  });

  test('creates a missing run with its texts, and nothing else', async () => {
    const a = await begun('one');
    const store = openStore(a.directory);
    const { digest } = await store.keep(run, 'a long text');
    const b = machine('b');
    await b.transfer.receive(await a.history(), await a.transfer.texts(run, [digest]));
    expect(journal(b)).toEqual(journal(a));
    const there = openStore(b.directory);
    expect((await mustLoad(there, run)).state).toEqual((await mustLoad(store, run)).state);
    expect(await there.text(run, digest)).toBe('a long text');
    expect(readdirSync(b.directory)).toEqual([run]);
    expect((await there.check(run))?.problems).toEqual([]);
    expect((await there.check(run))?.harmless).toEqual([]);
  });

  test('[P6/10] continues a run whose history is its beginning, with byte-identical lines', async () => {
    const a = await begun('one');
    const b = copyOf(a);
    await a.say('two', 'three');
    await b.transfer.receive(await a.history(), none);
    expect(journal(b)).toEqual(journal(a));
    // The state file was recreated.
    const state = readFileSync(join(b.directory, run, 'state.json'), 'utf8');
    expect(JSON.parse(state).snapshot.seq).toBe(4);
    await b.say('four');
    await a.transfer.receive(await b.history(), none);
    expect(journal(a)).toEqual(journal(b));
    expect((await openStore(a.directory).check(run))?.problems).toEqual([]);
  });

  test('[P6/10] is refused by a run that changed meanwhile, which stays as it is', async () => {
    const a = await begun('one');
    const b = copyOf(a);
    await a.say('on a');
    const theirs = await a.history();
    await b.say('on b');
    const before = journal(b);
    await expect(b.transfer.receive(theirs, none)).rejects.toMatchObject({ code: 'busy' });
    await expect(b.transfer.replace(theirs, none, 'another tail')).rejects.toMatchObject({ code: 'busy' });
    expect(journal(b)).toEqual(before);
  });

  test('replaces another history, which is kept and can be restored', async () => {
    const a = await begun('one');
    const b = copyOf(a);
    await a.say('on a');
    await b.say('on b');
    const old = journal(b);
    const tail = (await b.history()).lines.at(-1)?.hash ?? '';
    const aside = await b.transfer.replace(await a.history(), none, tail);
    expect(journal(b)).toEqual(journal(a));
    const kept = join(b.directory, run, aside);
    expect(readFileSync(kept, 'utf8').split('\n').filter(Boolean)).toEqual(old);
    await b.say('goes on');
    writeFileSync(join(b.directory, run, 'journal.jsonl'), readFileSync(kept), { flag: 'a' });
    await openStore(b.directory).repair(run, { keep: tail.slice(0, 8) });
    expect(journal(b)).toEqual(old);
  });

  test('can be restored even if two clones share a machine name, with one batch or several', async () => {
    for (const said of [['on b'], ['on b', 'and more']]) {
      const a = await begun('one');
      const b = machine('a', copyOf(a).directory);
      await a.say('on a', 'on a again');
      await b.say(...said);
      const old = journal(b);
      const tail = (await b.history()).lines.at(-1)?.hash ?? '';
      const aside = await b.transfer.replace(await a.history(), none, tail);
      const kept = readFileSync(join(b.directory, run, aside));
      writeFileSync(join(b.directory, run, 'journal.jsonl'), kept, { flag: 'a' });
      await openStore(b.directory).repair(run, { keep: tail.slice(0, 8) });
      expect(journal(b)).toEqual(old);
      expect((await mustLoad(openStore(b.directory), run)).version.seq).toBe(old.length);
    }
  });

  test('is not sent with a missing or modified text', async () => {
    const a = await begun();
    const { digest } = await openStore(a.directory).keep(run, 'a long text');
    writeFileSync(join(a.directory, run, 'outputs', `${digest.slice(7)}.txt`), 'edited');
    await expect(a.transfer.texts(run, [digest])).rejects.toMatchObject({ code: 'store_corrupt' });
    const missing = `sha256:${'0'.repeat(64)}`;
    await expect(a.transfer.texts(run, [missing])).rejects.toMatchObject({ code: 'store_corrupt' });
    await expect(a.transfer.texts(run, ['sha256:../../x'])).rejects.toMatchObject({ code: 'store_failed' });
  });
});

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
    await b.say('written, and durable for nobody yet');
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
    writeFileSync(join(b.directory, run, 'replacing.lock'), 'somebody who is gone');
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

const sealed = (content: object): string =>
  Buffer.from(encodeLine(content as never).bytes)
    .toString()
    .trim();

test.each<[string, (lines: string[]) => string[], problem: string, line?: number]>([
  ['is empty', () => [], 'empty'],
  ['lacks its first line', (lines) => lines.slice(1), 'order', 1],
  ['lacks a line', ([first = '', , third = '']) => [first, third], 'order', 2],
  ['has a line twice', ([first = '', ...rest]) => [first, first, ...rest], 'order', 2],
  ['has two lines swapped', ([first = '', second = '', third = '']) => [first, third, second], 'order', 2],
  ['was edited', (lines) => lines.map((line) => line.replace('"two"', '"TWO"')), 'incomplete', 3],
  [
    'ends in the middle of a line',
    (lines) => [...lines.slice(0, -1), lines.at(-1)?.slice(0, 40) ?? ''],
    'incomplete',
    3,
  ],
  ['is from a newer Stepfast', ([first = '', ...rest]) => [first, ...rest, newerThan(first)], 'newer', 4],
  ['has a batch without events', (lines) => [...lines, after(lines, { events: undefined })], 'shape', 4],
  ['has invalid events', (lines) => [...lines, after(lines, { events: [1] })], 'shape', 4],
  [
    'has an unknown kind of actor',
    (lines) => [...lines, after(lines, { actor: { kind: 'root' } })],
    'shape',
    4,
  ],
  ['has a time that is not a number', (lines) => [...lines, after(lines, { now: 'now' })], 'shape', 4],
  ['has a time out of range', (lines) => [...lines, after(lines, { now: 1e300 })], 'shape', 4],
  [
    'has a second workflow',
    (lines) => [...lines, after(lines, { pinned: { hash: '', definition: {} } })],
    'shape',
    4,
  ],
  ['starts without a workflow', () => [sealed({ ...begins, pinned: undefined })], 'shape', 1],
  ['is of another run', (lines) => lines, 'order', 1],
])('a history that %s is refused', async (name, edit, problem, line) => {
  const a = await begun('one', 'two');
  const text = edit(journal(a))
    .map((each) => `${each}\n`)
    .join('');
  const id = name === 'is of another run' ? 'sample-1-efgh' : run;
  expect(() => parseHistory(id, Buffer.from(text))).toThrow(
    expect.objectContaining({ code: 'bad_history', data: { problem, line } }),
  );
});

const begins = { seq: 1, prev: genesis(run), machine: 'm', nonce: 'n', now: 1, events: [] };

/** A line with a valid checksum and arbitrary content. */
function after(lines: readonly string[], more: object): string {
  const prev = JSON.parse(lines.at(-1) ?? '').sum;
  return sealed({ ...begins, seq: lines.length + 1, prev, ...more });
}

const newerThan = (line: string): string =>
  Buffer.from(encodeLine(JSON.parse(line), 99).bytes)
    .toString()
    .trim();

/** Crashes at the n-th changing call; an append writes half of its bytes first. */
function dying(at: number): Files {
  const files = impatient();
  let calls = 0;
  const step = async <T>(whole: () => Promise<T>, half?: () => Promise<unknown>): Promise<T> => {
    calls += 1;
    if (calls === at) await half?.();
    if (calls >= at) throw new Error('crashed');
    return whole();
  };
  const part = (bytes: Uint8Array): Uint8Array => bytes.subarray(0, bytes.length >> 1);
  return {
    ...files,
    append: (path, bytes, only) =>
      step(
        () => files.append(path, bytes, only),
        () => files.append(path, part(bytes), only),
      ),
    create: (path, bytes) =>
      step(
        () => files.create(path, bytes),
        () => files.create(path, part(bytes)),
      ),
    sync: (path) => step(() => files.sync(path)),
    syncDirectory: (path) => step(() => files.syncDirectory(path)),
    rename: (from, to) => step(() => files.rename(from, to)),
    makeDirectory: (path) => step(() => files.makeDirectory(path)),
    remove: (path) => step(() => files.remove(path)),
  };
}

test.each(['created', 'continued', 'replaced'] as const)(
  'a run that is %s while the machine crashes is the old one, the new one or on its way, and the same call ends it',
  async (how) => {
    const a = await begun('one');
    const before = how === 'created' ? machine('b') : copyOf(a);
    if (how === 'replaced') await before.say('on b');
    await a.say('two', 'three', 'four');
    const text = await openStore(a.directory).keep(run, 'a long text');
    const theirs = await a.history();
    const texts = await a.transfer.texts(run, [text.digest]);
    let crashes = 0;
    for (let at = 1; ; at += 1) {
      const directory = join(temporaryDirectory(), 'runs');
      if (existsSync(before.directory)) cpSync(before.directory, directory, { recursive: true });
      else mkdirSync(directory, { recursive: true });
      const old = await transferOf(directory).read(run);
      const tail = old?.lines.at(-1)?.hash ?? '';
      const act = (transfer: FileTransfer): Promise<unknown> =>
        how === 'replaced' ? transfer.replace(theirs, texts, tail) : transfer.receive(theirs, texts);
      const crashed = await act(transferOf(directory, dying(at))).then(
        () => false,
        () => true,
      );
      const seen = await transferOf(directory).read(run);
      if (!crashed) {
        expect(seen?.lines.map(({ hash }) => hash)).toEqual(theirs.lines.map(({ hash }) => hash));
        break;
      }
      crashes += 1;
      const hashes = seen?.lines.map(({ hash }) => hash) ?? [];
      const isOld = hashes.join() === (old?.lines ?? []).map(({ hash }) => hash).join();
      const isTheirs = compareHistories(
        hashes.map((hash) => ({ hash })),
        theirs.lines,
      ).relation;
      const allowed = how === 'continued' ? ['equal', 'behind'] : ['equal'];
      expect(isOld || allowed.includes(isTheirs), `crash ${at}: ${hashes.length} lines`).toBe(true);
      // A text exists before any batch refers to it.
      if (!isOld) expect(await openStore(directory).text(run, text.digest)).toBe('a long text');
      if (how === 'replaced' && !isOld) continue;
      if (isTheirs !== 'equal') await act(transferOf(directory));
      const mended = await transferOf(directory).read(run);
      expect(mended?.lines.length, `crash ${at}`).toBe(theirs.lines.length);
      expect((await openStore(directory).check(run))?.problems).toEqual([]);
    }
    expect(crashes).toBeGreaterThan(6);
  },
);
