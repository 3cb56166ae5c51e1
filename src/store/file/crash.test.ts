import { cpSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { dyingFiles, openStore, temporaryDirectory, unsyncedFiles } from '../../../test/kit/file-store.ts';
import { begin, mustLoad, note, sampleRun } from '../../../test/kit/sample-run.ts';
import type { FileStore } from './file-store.ts';
import { encodeLine } from './journal.ts';

const run = sampleRun;

/** What a later process sees. */
async function look(store: FileStore): Promise<string> {
  const loaded = await store.load(run);
  const ids = (await store.list()).map((info) => info.problem ?? info.run);
  expect(ids).toEqual(loaded ? [run] : []);
  return loaded ? `${loaded.version.seq} ${JSON.stringify(loaded.state.variables)}` : 'none';
}

/**
 * Crashes at each call of `work` in turn: the run must be as before or as after, and accept another batch. Returns the
 * number of crashes.
 */
async function crashEverywhere(
  prepare: (store: FileStore, directory: string) => Promise<unknown>,
  work: (store: FileStore) => Promise<unknown>,
  see = look,
): Promise<number> {
  const prepared = join(temporaryDirectory(), 'runs');
  mkdirSync(prepared);
  await prepare(openStore(prepared), prepared);
  const copy = (): string => {
    const directory = join(temporaryDirectory(), 'runs');
    cpSync(prepared, directory, { recursive: true });
    return directory;
  };
  const before = await see(openStore(copy()));
  const done = copy();
  await work(openStore(done));
  const after = await see(openStore(done));
  expect(after).not.toBe(before);
  const seen = new Set<string>();
  let crashes = 0;
  for (const half of [false, true]) {
    for (let at = 1; ; at += 1) {
      const directory = copy();
      const { files, died } = dyingFiles(at, { half });
      const outcome = await work(openStore(directory, { files })).catch(() => 'crashed');
      // Sleeping takes no time, so that waiting for the crashed process's lock is instant.
      const fresh = openStore(directory, { files: { ...unsyncedFiles(), sleep: async () => {} } });
      const found = await see(fresh);
      seen.add(found);
      expect([before, after]).toContain(found);
      if (outcome !== 'crashed') expect(found).toBe(after);
      if ((await fresh.load(run).catch(() => undefined)) === undefined) {
        if (found === 'none') expect(await begin(fresh, run)).toMatchObject({ seq: 1 });
      } else expect(await note(fresh, run, 'further')).toMatchObject({ seq: expect.any(Number) });
      if (!died()) break;
      crashes += 1;
    }
  }
  expect(seen).toEqual(new Set([before, after]));
  return crashes;
}

test('[P6/9] a crash at any call of create leaves either no run or the complete run', async () => {
  expect(
    await crashEverywhere(
      async () => {},
      (store) => begin(store, run),
    ),
  ).toBeGreaterThan(20);
});

test('[P6/9] a crash at any call of create also leaves no run or the complete run if the runs directory is missing', async () => {
  const root = temporaryDirectory();
  for (let at = 1; ; at += 1) {
    const directory = join(root, `${at}`, '.stepfast', 'runs');
    mkdirSync(dirname(dirname(directory)));
    const { files, died } = dyingFiles(at);
    await begin(openStore(directory, { files }), run).catch(() => 'crashed');
    const fresh = openStore(directory, { files: { ...unsyncedFiles(), sleep: async () => {} } });
    if ((await look(fresh)) === 'none') expect(await begin(fresh, run)).toMatchObject({ seq: 1 });
    expect(await note(fresh, run, 'further')).toMatchObject({ seq: 2 });
    if (!died()) break;
  }
});

test('[P6/5] a crash at any call of append leaves the old or the new state', async () => {
  const crashes = await crashEverywhere(
    async (store) => {
      await begin(store, run);
      await note(store, run, 'before');
    },
    (store) => note(store, run, 'after'),
  );
  expect(crashes).toBeGreaterThan(20);
});

test('[P6/8] a crash at any call of keep leaves the complete text or none', async () => {
  const text = 'long '.repeat(1000);
  let digest = '';
  const crashes = await crashEverywhere(
    (store) => begin(store, run),
    async (store) => {
      ({ digest } = await store.keep(run, text));
    },
    async (store) => {
      const kept = digest === '' ? undefined : await store.text(run, digest);
      expect([undefined, text]).toContain(kept);
      return kept === undefined ? 'no text' : 'text';
    },
  );
  expect(crashes).toBeGreaterThan(10);
});

test('[P6/6] a crash at any call of repair leaves either the fork or the chosen branch', async () => {
  let keep = '';
  const crashes = await crashEverywhere(
    async (store, directory) => {
      await begin(store, run);
      const { version } = await mustLoad(store, run);
      await note(store, run, 'ours');
      const line = { seq: 2, prev: version.hash, machine: 'there', nonce: 'n', now: 5, events: [] };
      const { bytes, hash } = encodeLine(line);
      await unsyncedFiles().append(join(directory, run, 'journal.jsonl'), bytes);
      keep = hash.slice(0, 8);
    },
    (store) => store.repair(run, { keep }),
    async (store) => {
      const checked = await store.check(run);
      if (!checked) return 'gone';
      return checked.branches.length === 0 ? look(store) : 'forked';
    },
  );
  expect(crashes).toBeGreaterThan(15);
});

test('a crash at any call of remove leaves either the run with its texts or no run', async () => {
  let digest = '';
  const crashes = await crashEverywhere(
    async (store) => {
      await begin(store, run);
      await note(store, run, 'one');
      ({ digest } = await store.keep(run, 'text'));
    },
    (store) => store.remove(run),
    async (store) => {
      const seen = await look(store);
      return seen === 'none' ? seen : `${seen} ${await store.text(run, digest)}`;
    },
  );
  expect(crashes).toBeGreaterThan(10);
});
