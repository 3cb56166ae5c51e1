import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase, type TestDatabase } from '../../../test/kit/database.ts';
import { openStore, temporaryDirectory } from '../../../test/kit/file-store.ts';
import { begin, mustLoad, noteCommand, send } from '../../../test/kit/sample-run.ts';
import { storeAnswers, storeCalls } from '../../../test/kit/store-model.ts';
import { createPostgres } from './index.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

test('the file store and PostgreSQL give the same answers to the same calls', async () => {
  const root = temporaryDirectory();
  const other = createPostgres({ url: database.url, max: 2 });
  let opened = 0;
  await fc.assert(
    fc.asyncProperty(storeCalls, async (calls) => {
      const project = await database.project();
      // What is opened again is another server.
      const open = () => {
        opened += 1;
        return (opened % 2 ? database.postgres : other).store(project);
      };
      expect(await storeAnswers(open, calls)).toEqual(
        await storeAnswers(() => openStore(join(root, `${project}`)), calls),
      );
    }),
    { numRuns: 60 },
  );
  await other.close();
});

test('with concurrent writers on two servers, locked or not, each batch follows exactly one other', async () => {
  const project = await database.project();
  const other = createPostgres({ url: database.url, max: 4 });
  const stores = [database.postgres.store(project), other.store(project)];
  const run = 'hot-run';
  const [first] = stores;
  if (!first) throw new Error('there are two');
  await begin(first, run);
  const each = 12;
  await Promise.all(
    Array.from({ length: 8 }, async (_, writer) => {
      const store = stores[writer % 2] ?? first;
      for (let done = 0, tries = 0; done < each; tries += 1) {
        if (tries > 2000) throw new Error('it never ends');
        const attempt = async (within: typeof store) => {
          const loaded = await mustLoad(within, run);
          return send(within, loaded, noteCommand(loaded, `${writer} ${done}`));
        };
        const version = writer < 4 ? await store.locked?.(run, attempt) : await attempt(store);
        // The holder of the lock meets no conflict.
        if (writer < 4) expect(version).not.toBe('conflict');
        if (version !== 'conflict') done += 1;
      }
    }),
  );
  const entries = await first.entries(run);
  expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: 8 * each + 1 }, (_, n) => n + 1));
  await other.close();
});

test('of many who write the very same batch at once one wins', async () => {
  const store = database.postgres.store(await database.project());
  await begin(store, 'same-run');
  const loaded = await mustLoad(store, 'same-run');
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => send(store, loaded, noteCommand(loaded, 'same'))),
  );
  expect(answers.filter((answer) => answer !== 'conflict')).toHaveLength(1);
});

test('what an action under lock wrote is undone where it fails, and the run is free again', async () => {
  const store = database.postgres.store(await database.project());
  await begin(store, 'locked-run');
  const failing = store.locked?.('locked-run', async (within) => {
    const loaded = await mustLoad(within, 'locked-run');
    expect(await send(within, loaded, noteCommand(loaded, 'never'))).toMatchObject({ seq: 2 });
    throw new RangeError('on purpose');
  });
  await expect(failing).rejects.toBeInstanceOf(RangeError);
  const loaded = await mustLoad(store, 'locked-run');
  expect(loaded.version.seq).toBe(1);
  expect(await send(store, loaded, noteCommand(loaded, 'after'))).toMatchObject({ seq: 2 });
});
