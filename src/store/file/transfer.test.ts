import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mustLoad } from '../../../test/kit/sample-run.ts';
import {
  after,
  begins,
  begun,
  copyOf,
  impatient,
  journal,
  machine,
  none,
  run,
  sealed,
  transferOf,
} from '../../../test/kit/transfer-machines.ts';
import { encodeCarried, parseCarried, type Relation, relate } from './carried.ts';
import type { Files } from './files.ts';
import { encodeLine } from './journal.ts';
import { openStore, temporaryDirectory } from './temporary.ts';
import type { FileTransfer } from './transfer.ts';

test.each<[string, string, string, Relation, number]>([
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
  expect(relate(lines(mine), lines(theirs))).toEqual({ relation, common });
});

test('[P6/10] two histories with a common part relate as their further parts say', () => {
  const hashes = fc.array(fc.integer(), { maxLength: 6 });
  fc.assert(
    fc.property(hashes, hashes, hashes, (both, mine, theirs) => {
      const lines = (side: string, own: number[]): { hash: string }[] => [
        ...both.map((each, index) => ({ hash: `${index} ${each}` })),
        ...own.map((each) => ({ hash: `${side} ${each}` })),
      ];
      const [one, other] = [lines('mine', mine), lines('theirs', theirs)];
      const { relation, common } = relate(one, other);
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
      expect(relate(other, one)).toEqual({ relation: back, common });
    }),
  );
});

describe('a history that travels', () => {
  test('has the accepted lines alone, and is the same on every machine', async () => {
    const a = await begun('one', 'two');
    const file = join(a.directory, run, 'journal.jsonl');
    const [first = '', second = ''] = journal(a);
    const loser = { ...JSON.parse(second), nonce: 'late' };
    const { bytes } = encodeLine(loser);
    writeFileSync(file, `${readFileSync(file, 'utf8')}${Buffer.from(bytes)}torn`);
    const sent = Buffer.from(encodeCarried((await a.carried()).lines)).toString();
    expect(sent.split('\n').filter(Boolean)).toEqual([first, second, journal(a)[2]]);
    const received = parseCarried(run, Buffer.from(sent));
    expect(received.lines.map(({ hash }) => hash)).toEqual((await a.carried()).lines.map(({ hash }) => hash));
    expect(Buffer.from(encodeCarried(received.lines)).toString()).toBe(sent);
  });

  test('makes the run where it is not, with its texts, and nothing else', async () => {
    const a = await begun('one');
    const store = openStore(a.directory);
    const { digest } = await store.keep(run, 'a long text');
    const b = machine('b');
    await b.transfer.receive(await a.carried(), await a.transfer.texts(run, [digest]));
    expect(journal(b)).toEqual(journal(a));
    const there = openStore(b.directory);
    expect((await mustLoad(there, run)).state).toEqual((await mustLoad(store, run)).state);
    expect(await there.text(run, digest)).toBe('a long text');
    expect(readdirSync(b.directory)).toEqual([run]);
    expect((await there.check(run))?.problems).toEqual([]);
    expect((await there.check(run))?.harmless).toEqual([]);
  });

  test('[P6/10] goes on with a run whose history is its beginning; lines stay byte for byte', async () => {
    const a = await begun('one');
    const b = copyOf(a);
    await a.say('two', 'three');
    await b.transfer.receive(await a.carried(), none);
    expect(journal(b)).toEqual(journal(a));
    // The state file was made anew.
    const state = readFileSync(join(b.directory, run, 'state.json'), 'utf8');
    expect(JSON.parse(state).snapshot.seq).toBe(4);
    await b.say('four');
    await a.transfer.receive(await b.carried(), none);
    expect(journal(a)).toEqual(journal(b));
    expect((await openStore(a.directory).check(run))?.problems).toEqual([]);
  });

  test('[P6/10] is refused by a run that moved meanwhile, which stays as it is', async () => {
    const a = await begun('one');
    const b = copyOf(a);
    await a.say('on a');
    const theirs = await a.carried();
    await b.say('on b');
    const before = journal(b);
    await expect(b.transfer.receive(theirs, none)).rejects.toMatchObject({ code: 'busy' });
    await expect(b.transfer.exchange(theirs, none, 'another tail')).rejects.toMatchObject({ code: 'busy' });
    expect(journal(b)).toEqual(before);
  });

  test('takes the place of another one, which is kept and can be chosen again', async () => {
    const a = await begun('one');
    const b = copyOf(a);
    await a.say('on a');
    await b.say('on b');
    const old = journal(b);
    const tail = (await b.carried()).lines.at(-1)?.hash ?? '';
    const aside = await b.transfer.exchange(await a.carried(), none, tail);
    expect(journal(b)).toEqual(journal(a));
    const kept = join(b.directory, run, aside);
    expect(readFileSync(kept, 'utf8').split('\n').filter(Boolean)).toEqual(old);
    await b.say('goes on');
    writeFileSync(join(b.directory, run, 'journal.jsonl'), readFileSync(kept), { flag: 'a' });
    await openStore(b.directory).repair(run, { keep: tail.slice(0, 8) });
    expect(journal(b)).toEqual(old);
  });

  test('can be chosen again also where two clones share a machine, with one batch or several', async () => {
    for (const said of [['on b'], ['on b', 'and more']]) {
      const a = await begun('one');
      const b = machine('a', copyOf(a).directory);
      await a.say('on a', 'on a again');
      await b.say(...said);
      const old = journal(b);
      const tail = (await b.carried()).lines.at(-1)?.hash ?? '';
      const aside = await b.transfer.exchange(await a.carried(), none, tail);
      const kept = readFileSync(join(b.directory, run, aside));
      writeFileSync(join(b.directory, run, 'journal.jsonl'), kept, { flag: 'a' });
      await openStore(b.directory).repair(run, { keep: tail.slice(0, 8) });
      expect(journal(b)).toEqual(old);
      expect((await mustLoad(openStore(b.directory), run)).version.seq).toBe(old.length);
    }
  });

  test('is not sent without a text that it names, or with another one', async () => {
    const a = await begun();
    const { digest } = await openStore(a.directory).keep(run, 'a long text');
    writeFileSync(join(a.directory, run, 'outputs', `${digest.slice(7)}.txt`), 'edited');
    await expect(a.transfer.texts(run, [digest])).rejects.toMatchObject({ code: 'store_corrupt' });
    const missing = `sha256:${'0'.repeat(64)}`;
    await expect(a.transfer.texts(run, [missing])).rejects.toMatchObject({ code: 'store_corrupt' });
    await expect(a.transfer.texts(run, ['sha256:../../x'])).rejects.toMatchObject({ code: 'store_failed' });
  });
});

test.each<[string, (lines: string[]) => string[], string]>([
  ['is empty', () => [], 'it is empty'],
  ['lacks its first line', (lines) => lines.slice(1), 'line 1 does not follow'],
  ['lacks a line', ([first = '', , third = '']) => [first, third], 'line 2 does not follow'],
  ['has a line twice', ([first = '', ...rest]) => [first, first, ...rest], 'line 2 does not follow'],
  [
    'has two lines exchanged',
    ([first = '', second = '', third = '']) => [first, third, second],
    'line 2 does',
  ],
  ['was edited', (lines) => lines.map((line) => line.replace('"two"', '"TWO"')), 'line 3 is not whole'],
  [
    'ends in the middle of a line',
    (lines) => [...lines.slice(0, -1), lines.at(-1)?.slice(0, 40) ?? ''],
    'not whole',
  ],
  ['is of a newer Stepfast', ([first = '', ...rest]) => [first, ...rest, newerThan(first)], 'newer Stepfast'],
  [
    'has a batch without events',
    (lines) => [...lines, after(lines, { events: undefined })],
    'line 4 is no batch',
  ],
  ['has events that are none', (lines) => [...lines, after(lines, { events: [1] })], 'line 4 is no batch'],
  [
    'has an actor of its own kind',
    (lines) => [...lines, after(lines, { actor: { kind: 'root' } })],
    'no batch',
  ],
  ['has no moment', (lines) => [...lines, after(lines, { now: 'now' })], 'line 4 is no batch'],
  [
    'has a moment that no date has',
    (lines) => [...lines, after(lines, { now: 1e300 })],
    'line 4 is no batch',
  ],
  [
    'has a second workflow',
    (lines) => [...lines, after(lines, { pinned: { hash: '', definition: {} } })],
    'no batch',
  ],
  ['begins without a workflow', () => [sealed({ ...begins, pinned: undefined })], 'line 1 is no batch'],
  ['is another run', (lines) => lines, 'line 1 does not follow'],
])('a history that %s is refused', async (name, edit, words) => {
  const a = await begun('one', 'two');
  const text = edit(journal(a))
    .map((line) => `${line}\n`)
    .join('');
  const id = name === 'is another run' ? 'sample-1-efgh' : run;
  expect(() => parseCarried(id, Buffer.from(text))).toThrow(words);
});

const newerThan = (line: string): string =>
  Buffer.from(encodeLine(JSON.parse(line), 99).bytes)
    .toString()
    .trim();

/** Dies at the n-th call that changes something, of an append after half of its bytes. */
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

test.each(['made', 'continued', 'exchanged'] as const)(
  'a run that is %s while the machine crashes is the old one, the new one or on its way, and the same call ends it',
  async (how) => {
    const a = await begun('one');
    const before = how === 'made' ? machine('b') : copyOf(a);
    if (how === 'exchanged') await before.say('on b');
    await a.say('two', 'three', 'four');
    const text = await openStore(a.directory).keep(run, 'a long text');
    const theirs = await a.carried();
    const texts = await a.transfer.texts(run, [text.digest]);
    let crashes = 0;
    for (let at = 1; ; at += 1) {
      const directory = join(temporaryDirectory(), 'runs');
      if (existsSync(before.directory)) cpSync(before.directory, directory, { recursive: true });
      else mkdirSync(directory, { recursive: true });
      const old = await transferOf(directory).read(run);
      const tail = old?.lines.at(-1)?.hash ?? '';
      const act = (transfer: FileTransfer): Promise<unknown> =>
        how === 'exchanged' ? transfer.exchange(theirs, texts, tail) : transfer.receive(theirs, texts);
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
      const isTheirs = relate(
        hashes.map((hash) => ({ hash })),
        theirs.lines,
      ).relation;
      const allowed = how === 'continued' ? ['equal', 'behind'] : ['equal'];
      expect(isOld || allowed.includes(isTheirs), `crash ${at}: ${hashes.length} lines`).toBe(true);
      // A text is there before anything can name it.
      if (!isOld) expect(await openStore(directory).text(run, text.digest)).toBe('a long text');
      if (how === 'exchanged' && !isOld) continue;
      if (isTheirs !== 'equal') await act(transferOf(directory));
      const mended = await transferOf(directory).read(run);
      expect(mended?.lines.length, `crash ${at}`).toBe(theirs.lines.length);
      expect((await openStore(directory).check(run))?.problems).toEqual([]);
    }
    expect(crashes).toBeGreaterThan(6);
  },
);
