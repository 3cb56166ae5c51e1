import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStore } from '../../../test/kit/file-store.ts';
import { forged, lines, newStoreDirectory, run } from '../../../test/kit/journal.ts';
import { begin, mustLoad, note } from '../../../test/kit/sample-run.ts';
import { readChain, resumeChain } from './accept-lines.ts';
import { encodeLine, genesis, parseLines } from './journal.ts';

test('[P6/1] a batch is one line that ends with the checksum of the bytes before it', async () => {
  const { directory, journal } = newStoreDirectory();
  const store = openStore(directory);
  await begin(store, run);
  await note(store, run, 'one\ntwo', { key: 'k', reply: { ok: true } });
  const text = readFileSync(journal, 'utf8');
  expect(text).toMatch(/^\n\{"v":1,"seq":1,[^\n]*\}\n\n\{"v":1,"seq":2,[^\n]*\}\n$/);
  for (const line of lines(journal)) {
    expect(line).toMatch(/,"sum":"[0-9a-f]{32}"\}$/);
    expect(Object.keys(JSON.parse(line)).at(-1)).toBe('sum');
  }
  expect(Object.keys(JSON.parse(lines(journal)[1] ?? ''))).toEqual([
    'v',
    'seq',
    'prev',
    'machine',
    'nonce',
    'now',
    'key',
    'reply',
    'events',
    'sum',
  ]);
  const [first, second] = lines(journal).map((line) => JSON.parse(line));
  expect(first.prev).toBe(genesis(run));
  expect(second.prev).toBe(first.sum);
});

test('[P6/1] a torn tail of any length is ignored and does not affect the next line', async () => {
  const { directory, journal } = newStoreDirectory();
  await begin(openStore(directory), run);
  const whole = readFileSync(journal);
  const next = forged(2, JSON.parse(lines(journal)[0] ?? '').sum);
  for (let length = 0; length < next.bytes.length; length += length < next.bytes.length - 50 ? 11 : 1) {
    writeFileSync(journal, Buffer.concat([whole, next.bytes.subarray(0, length)]));
    const store = openStore(directory);
    const loaded = await mustLoad(store, run);
    expect(loaded.version.seq).toBe(1);
    // The next write completes a line that lacks only its newline, so that line is accepted first.
    if (length === next.bytes.length - 1) expect(await note(store, run, 'late')).toBe('conflict');
    expect(await note(store, run, 'after')).toMatchObject({ seq: length === next.bytes.length - 1 ? 3 : 2 });
    expect((await mustLoad(openStore(directory), run)).state.variables.said).toBe('after');
    writeFileSync(join(directory, run, 'state.json'), '');
  }
});

test('[P6/1] any changed byte makes a line bad', () => {
  const { bytes } = forged(1, genesis(run));
  for (let at = 1; at < bytes.length - 1; at += 1) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(parseLines(changed).every((line) => line.kind === 'bad')).toBe(true);
  }
});

test('[P6/1] Windows line endings change nothing', async () => {
  const { directory, journal } = newStoreDirectory();
  const store = openStore(directory);
  await begin(store, run);
  await note(store, run, 'one');
  writeFileSync(journal, readFileSync(journal, 'utf8').replaceAll('\n', '\r\n'));
  expect((await mustLoad(openStore(directory), run)).version.seq).toBe(2);
});

test('[P6/2] a line is accepted only with a valid checksum, the next sequence number and the hash of the line before', () => {
  const first = forged(1, genesis(run));
  const second = forged(2, first.hash);
  const late = forged(2, first.hash, { nonce: 'late' });
  const chain = (...parts: { bytes: Uint8Array }[]) =>
    readChain(run, Buffer.concat(parts.map(({ bytes }) => bytes)));
  expect(chain(first, second, late).accepted.map(({ hash }) => hash)).toEqual([first.hash, second.hash]);
  expect(chain(first, second, late).races.map(({ hash }) => hash)).toEqual([late.hash]);
  expect(chain(first, late, second).accepted.map(({ hash }) => hash)).toEqual([first.hash, late.hash]);
  expect(chain(first, forged(3, first.hash)).accepted).toHaveLength(1);
  expect(chain(first, forged(2, 'x')).accepted).toHaveLength(1);
  expect(chain(forged(1, genesis('another-run'))).accepted).toHaveLength(0);
  expect(chain(first, first, second, second)).toMatchObject({ races: [], forked: [], orphans: [] });
});

test('[P6/2] the end of a journal is read from a known line only if that line is there', () => {
  const first = forged(1, genesis(run));
  const second = forged(2, first.hash);
  const tail = { seq: 1, hash: first.hash, offset: 40 };
  const from = (...parts: Uint8Array[]) => resumeChain(Buffer.concat(parts), tail);
  expect(from(first.bytes.subarray(1), second.bytes)?.accepted).toHaveLength(2);
  expect(from(forged(1, genesis(run), { nonce: 'other' }).bytes.subarray(1))).toBeUndefined();
  expect(from(first.bytes)).toBeUndefined();
  expect(from(first.bytes.subarray(2))).toBeUndefined();
  expect(from(new Uint8Array())).toBeUndefined();
  expect(from(first.bytes.subarray(1), forged(3, second.hash).bytes)).toBeUndefined();
});

test('a journal of a newer Stepfast is refused and stays unchanged', async () => {
  const { directory, journal } = newStoreDirectory();
  const store = openStore(directory);
  await begin(store, run);
  const [first = ''] = lines(journal);
  const { prev } = JSON.parse(first);
  const newer = encodeLine({ seq: 2, prev, machine: 'm', nonce: 'n', now: 1, events: [] }, 2);
  appendFileSync(journal, newer.bytes);
  const before = readFileSync(journal);
  const refused = { code: 'store_newer', data: { run, version: 2 } };
  for (const fresh of [store, openStore(directory)]) {
    await expect(fresh.load(run)).rejects.toMatchObject(refused);
    await expect(fresh.entries(run)).rejects.toMatchObject(refused);
    await expect(fresh.repair(run)).rejects.toMatchObject(refused);
  }
  expect((await store.check(run))?.problems).toMatchObject([{ kind: 'newer' }]);
  expect(readFileSync(journal)).toEqual(before);
});
