import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { dyingFiles, openStore, temporaryDirectory } from '../../../test/kit/file-store.ts';
import { mustLoad } from '../../../test/kit/sample-run.ts';
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
import { encodeLine } from './journal.ts';
import { compareHistories, encodeHistory, parseHistory } from './run-history.ts';
import type { FileTransfer } from './transfer.ts';

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
      const crashed = await act(transferOf(directory, dyingFiles(at, { files: impatient() }).files)).then(
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
      const repaired = await transferOf(directory).read(run);
      expect(repaired?.lines.length, `crash ${at}`).toBe(theirs.lines.length);
      expect((await openStore(directory).check(run))?.problems).toEqual([]);
    }
    expect(crashes).toBeGreaterThan(6);
  },
);
