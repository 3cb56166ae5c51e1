import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStore, unsyncedFiles } from '../../../test/kit/file-store.ts';
import { forged, lines, newStoreDirectory, run } from '../../../test/kit/journal.ts';
import { begin, mustLoad, note, noteCommand, send } from '../../../test/kit/sample-run.ts';
import type { Files } from './files.ts';

/** Lets another writer append between reading the tail and appending. */
function overtaken(other: () => Promise<unknown>): Files {
  const files = unsyncedFiles();
  let once = true;
  return {
    ...files,
    append: async (path, bytes) => {
      if (once) {
        once = false;
        await other();
      }
      return files.append(path, bytes);
    },
  };
}

test('[P6/3] a writer that was overtaken detects it after the write and returns conflict', async () => {
  const { directory, journal } = newStoreDirectory();
  await begin(openStore(directory), run);
  const quick = openStore(directory, { files: { ...unsyncedFiles(), sleep: async () => {} } });
  const slow = openStore(directory, { files: overtaken(() => note(quick, run, 'quick')) });
  const loaded = await mustLoad(slow, run);
  expect(await send(slow, loaded, noteCommand(loaded, 'slow'))).toBe('conflict');
  expect(lines(journal)).toHaveLength(3);
  expect((await mustLoad(openStore(directory), run)).state.variables.said).toBe('quick');
  expect(await note(slow, run, 'slow again')).toMatchObject({ seq: 3 });
});

test('[P6/3] a writer that sees a new tail writes nothing', async () => {
  const { directory, journal } = newStoreDirectory();
  const store = openStore(directory);
  await begin(store, run);
  const late = openStore(directory);
  const loaded = await mustLoad(late, run);
  await note(store, run, 'first');
  const before = readFileSync(journal);
  expect(await send(late, loaded, noteCommand(loaded, 'late'))).toBe('conflict');
  expect(readFileSync(journal)).toEqual(before);
});

test('[P6/3] the result comes after a sync, and a failed sync means an unknown outcome', async () => {
  const { directory, journal } = newStoreDirectory();
  await begin(openStore(directory), run);
  const calls: string[] = [];
  const files = unsyncedFiles();
  const traced: Files = {
    ...files,
    append: async (path, bytes) => {
      calls.push('append');
      return files.append(path, bytes);
    },
    sync: async (path) => {
      if (path === journal) calls.push('sync');
      if (calls.length > 2) throw new Error('EIO');
    },
    read: async (path, from) => {
      if (path === journal) calls.push('read');
      return files.read(path, from);
    },
  };
  const store = openStore(directory, { files: traced });
  const loaded = await mustLoad(store, run);
  calls.length = 0;
  await expect(send(store, loaded, noteCommand(loaded, 'one'))).rejects.toMatchObject({
    code: 'store_failed',
  });
  expect(calls).toEqual(['read', 'append', 'sync']);
  expect((await mustLoad(openStore(directory), run)).version.seq).toBe(2);
});

test('[P6/4] an abandoned lock costs one wait and no data', async () => {
  const { directory } = newStoreDirectory();
  let slept = 0;
  const files = unsyncedFiles();
  const store = openStore(directory, {
    files: {
      ...files,
      sleep: async (ms) => {
        slept += ms;
      },
    },
  });
  await begin(store, run);
  writeFileSync(join(directory, run, 'lock'), '{"pid":1}');
  expect(await note(store, run, 'one')).toMatchObject({ seq: 2 });
  expect(slept).toBeGreaterThanOrEqual(200);
  expect(slept).toBeLessThan(230);
  slept = 0;
  expect(await note(store, run, 'two')).toMatchObject({ seq: 3 });
  expect(slept).toBe(0);
});

test('[P6/4] a process that lost its lock does not remove the lock of another', async () => {
  const { directory } = newStoreDirectory();
  const files = unsyncedFiles();
  const store = openStore(directory, {
    files: {
      ...files,
      append: async (path, bytes) => {
        writeFileSync(join(directory, run, 'lock'), 'the lock of another');
        return files.append(path, bytes);
      },
    },
  });
  await begin(store, run);
  expect(readFileSync(join(directory, run, 'lock'), 'utf8')).toBe('the lock of another');
});

test('[P6/4] without any lock exactly one of many writers wins each round', async () => {
  const { directory } = newStoreDirectory();
  const files = unsyncedFiles();
  const unlocked: Files = {
    ...files,
    create: async (path, bytes) => {
      if (path.endsWith('lock')) throw new Error('no locks here');
      // Interleaves the calls of all writers.
      await new Promise((resolve) => setImmediate(resolve));
      return files.create(path, bytes);
    },
    read: async (path, from) => {
      await new Promise((resolve) => setImmediate(resolve));
      return files.read(path, from);
    },
  };
  await begin(openStore(directory), run);
  const writers = Array.from({ length: 6 }, () => openStore(directory, { files: unlocked }));
  let won = 0;
  for (let round = 0; round < 5; round += 1) {
    const loaded = await Promise.all(writers.map((store) => mustLoad(store, run)));
    const answers = await Promise.all(
      writers.map((store, writer) => {
        const seen = loaded[writer] ?? expect.fail('loaded');
        return send(store, seen, noteCommand(seen, `${round} ${writer}`));
      }),
    );
    won += answers.filter((answer) => answer !== 'conflict').length;
    expect(won).toBe(round + 1);
  }
  expect(await openStore(directory).entries(run)).toHaveLength(6);
  expect((await openStore(directory).check(run))?.problems).toEqual([]);
});

test('[P6/5] a writer killed after its append has stored the batch, and the key returns the reply', async () => {
  const { directory } = newStoreDirectory();
  await begin(openStore(directory), run);
  const files = unsyncedFiles();
  const dying = openStore(directory, {
    files: {
      ...files,
      sync: async (path) => {
        if (path.endsWith('journal.jsonl')) throw new Error('killed');
      },
    },
  });
  const loaded = await mustLoad(openStore(directory), run);
  const outcome = send(dying, loaded, noteCommand(loaded, 'one'), { key: 'k', reply: 'done' });
  await expect(outcome).rejects.toMatchObject({ code: 'store_failed' });
  expect((await mustLoad(openStore(directory), run, 'k')).repeated).toEqual({ reply: 'done' });
});

test('[P6/5] a batch is not returned before it is durable', async () => {
  const { directory, journal } = newStoreDirectory();
  const store = openStore(directory);
  await begin(store, run);
  appendFileSync(journal, forged(2, (await mustLoad(store, run)).version.hash).bytes);
  const synced: string[] = [];
  const files = { ...unsyncedFiles(), sync: async (path: string) => void synced.push(path) };
  expect((await mustLoad(openStore(directory, { files }), run)).version.seq).toBe(2);
  expect(synced).toEqual([journal]);
  await mustLoad(openStore(directory, { files }), run);
  expect(synced).toEqual([journal]);
});
