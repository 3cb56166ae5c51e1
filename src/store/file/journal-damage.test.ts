import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStore } from '../../../test/kit/file-store.ts';
import { forged, lines, newStoreDirectory, run } from '../../../test/kit/journal.ts';
import { begin, mustLoad, note } from '../../../test/kit/sample-run.ts';

test('[P6/6] a lost race of this machine is harmless', async () => {
  const { directory, journal } = newStoreDirectory();
  const store = openStore(directory);
  await begin(store, run);
  const { version } = await mustLoad(store, run);
  await note(store, run, 'first');
  appendFileSync(journal, forged(2, version.hash).bytes);
  expect((await mustLoad(openStore(directory), run)).state.variables.said).toBe('first');
  expect(await note(store, run, 'next')).toMatchObject({ seq: 3 });
  expect(await store.check(run)).toMatchObject({ problems: [], harmless: [{ kind: 'race', line: 6 }] });
});

test('[P6/6] a line of another machine is a fork, which a person must resolve', async () => {
  for (const keep of ['here', 'there']) {
    const { directory, journal } = newStoreDirectory();
    const store = openStore(directory);
    await begin(store, run);
    const { version } = await mustLoad(store, run);
    await note(store, run, 'ours');
    const theirs = forged(2, version.hash, { machine: 'there' });
    const more = forged(3, theirs.hash, { machine: 'there', nonce: 'theirs' });
    appendFileSync(journal, Buffer.concat([theirs.bytes, more.bytes]));
    const refused = { code: 'store_forked', data: { run, branches: [{ to: 2 }, { to: 3 }] } };
    for (const fresh of [openStore(directory), store]) {
      await expect(fresh.load(run)).rejects.toMatchObject(refused);
      await expect(fresh.entries(run)).rejects.toMatchObject(refused);
      await expect(fresh.repair(run)).rejects.toMatchObject(refused);
    }
    expect(await store.list()).toEqual([{ run, problem: expect.any(String) }]);
    const checked = await store.check(run);
    expect(checked?.branches).toMatchObject([
      { machine: 'here', from: 2, to: 2, accepted: true, what: ['note.added'] },
      { machine: 'there', from: 2, to: 3, accepted: false, began: 5, ended: 5 },
    ]);
    expect(checked?.problems.map(({ kind, line }) => [kind, line])).toEqual([
      ['fork', 6],
      ['fork', 8],
    ]);
    const branch = checked?.branches.find(({ machine }) => machine === keep);
    await expect(store.repair(run, { keep: 'nonsense' })).rejects.toMatchObject({ code: 'unknown_branch' });
    const before = readFileSync(journal);
    const repaired = await store.repair(run, { keep: branch?.id ?? '' });
    expect(repaired).toMatchObject({ kept: { seq: branch?.to }, backup: 'journal.1.bak.jsonl' });
    expect(repaired.dropped).toHaveLength(keep === 'here' ? 2 : 1);
    expect(readFileSync(join(directory, run, 'journal.1.bak.jsonl'))).toEqual(before);
    const said = keep === 'here' ? 'ours' : 'theirs';
    expect((await mustLoad(openStore(directory), run)).state.variables.said).toBe(said);
    expect(await note(store, run, 'on')).toMatchObject({ seq: (branch?.to ?? 0) + 1 });
    expect(await store.check(run)).toMatchObject({ problems: [], harmless: [], branches: [] });
  }
});

test('[P6/6] a branch of this machine with several lines is a fork too, even if the snapshot hides its root', async () => {
  const { directory, journal } = newStoreDirectory();
  const store = openStore(directory);
  await begin(store, run);
  const { version } = await mustLoad(store, run);
  for (const text of ['a', 'b', 'c']) await note(store, run, text);
  const branch = forged(2, version.hash);
  appendFileSync(journal, Buffer.concat([branch.bytes, forged(3, branch.hash).bytes]));
  await expect(openStore(directory).load(run)).rejects.toMatchObject({ code: 'store_forked' });
});

test('[P6/7] a bad line between valid ones is harmless if the chain is intact', async () => {
  const { directory, journal } = newStoreDirectory();
  const store = openStore(directory);
  await begin(store, run);
  appendFileSync(journal, '\n{"v":1,"seq":2,"prev":"torn');
  await note(store, run, 'one');
  appendFileSync(journal, 'rubbish\n');
  expect(await note(openStore(directory), run, 'two')).toMatchObject({ seq: 3 });
  expect((await store.check(run))?.harmless.map(({ kind }) => kind)).toEqual(['torn', 'torn']);
});

test('[P6/7] a damaged line with valid ones after it is corruption, and repair keeps the intact batches', async () => {
  const { directory, journal } = newStoreDirectory();
  const store = openStore(directory);
  await begin(store, run);
  for (const text of ['a', 'b', 'c']) await note(store, run, text);
  const text = readFileSync(journal, 'utf8');
  writeFileSync(journal, text.replace('"text":"b"', '"text":"B"'));
  const checked = await store.check(run);
  expect(checked?.problems.map(({ kind, line }) => [kind, line])).toEqual([['corrupt', 8]]);
  writeFileSync(join(directory, run, 'state.json'), 'edited');
  const fresh = openStore(directory);
  const refused = { code: 'store_corrupt', data: { run } };
  await expect(fresh.load(run)).rejects.toMatchObject(refused);
  expect(await fresh.list()).toEqual([{ run, problem: expect.any(String) }]);
  expect(await begin(fresh, run)).toBe('taken');
  const repaired = await fresh.repair(run);
  expect(repaired).toMatchObject({ kept: { seq: 2 }, backup: 'journal.1.bak.jsonl' });
  expect(repaired.dropped.map(({ line, seq }) => [line, seq])).toEqual([
    [6, undefined],
    [8, 4],
  ]);
  expect((await mustLoad(fresh, run)).state.variables.said).toBe('a');
  expect(await note(store, run, 'on')).toMatchObject({ seq: 3 });
  expect(await store.repair(run)).toMatchObject({ kept: { seq: 3 }, dropped: [] });
});

test('[P6/7] a journal that lost its end or beginning is corrupt, not a shorter journal', async () => {
  const { directory, journal } = newStoreDirectory();
  const store = openStore(directory);
  await begin(store, run);
  await note(store, run, 'a');
  const text = readFileSync(journal, 'utf8');
  const [first = '', second = ''] = lines(journal);
  writeFileSync(journal, `\n${first}\n`);
  await expect(openStore(directory).load(run)).rejects.toMatchObject({ code: 'store_corrupt' });
  expect((await store.check(run))?.problems).toMatchObject([{ kind: 'corrupt' }]);
  rmSync(journal);
  await expect(openStore(directory).load(run)).rejects.toMatchObject({ code: 'store_corrupt' });
  expect(await store.list()).toMatchObject([{ run, problem: expect.stringContaining('batch 2') }]);
  expect(await begin(store, run)).toBe('taken');
  writeFileSync(journal, `\n${second}\n`);
  await expect(openStore(directory).load(run)).rejects.toMatchObject({ code: 'store_corrupt' });
  await expect(store.repair(run)).rejects.toMatchObject({ code: 'store_corrupt' });
  await expect(store.repair('none-1-abcd')).rejects.toMatchObject({ code: 'no_run' });
  expect(await store.check('none-1-abcd')).toBeUndefined();
  writeFileSync(journal, text);
  expect((await mustLoad(openStore(directory), run)).version.seq).toBe(2);
  writeFileSync(journal, `\n${first}\n`);
  expect(await store.repair(run)).toMatchObject({ kept: { seq: 1 }, dropped: [] });
  expect((await mustLoad(store, run)).version.seq).toBe(1);
});
