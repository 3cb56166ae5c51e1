import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { begin, mustLoad, note, send } from '../../test/kit/sample-run.ts';
import { createFileStore, type FileStore } from './file/file-store.ts';
import { journalVersion, migrateLine, newerError } from './journal-version.ts';

const fixtures = join(import.meta.dirname, 'fixtures');
const run = 'sample-20261115-k3f9x2ab';

function open(directory: string): FileStore {
  let asked = 0;
  const nonce = (): string => {
    asked += 1;
    return `golden${asked}`;
  };
  return createFileStore({ directory, machine: 'golden', nonce });
}

function temporary(): string {
  const path = mkdtempSync(join(tmpdir(), 'stepfast-golden-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A run with every kind of stored data. */
async function play(store: FileStore): Promise<void> {
  await begin(store, run);
  await note(store, run, 'é 漢字 👍 \n "quoted"', { key: 'k1', reply: { ok: true } });
  const kept = await store.keep(run, 'A long text. '.repeat(100));
  const loaded = await mustLoad(store, run);
  const now = loaded.state.updatedAt + 1000;
  await send(store, loaded, { type: 'advance', now, output: kept, session: 'A' }, { key: 'k2', reply: null });
  await note(store, run, 'last');
}

test(`files of version ${journalVersion} stay byte-identical; npm test -- -u updates them after an intended change`, async () => {
  const directory = temporary();
  await play(open(directory));
  const golden = `fixtures/v${journalVersion}/${run}`;
  for (const name of ['journal.jsonl', 'state.json', 'workflow.json'])
    await expect(readFileSync(join(directory, run, name), 'utf8')).toMatchFileSnapshot(`${golden}/${name}`);
  const [text = ''] = readdirSync(join(directory, run, 'outputs'));
  const kept = readFileSync(join(directory, run, 'outputs', text), 'utf8');
  await expect(kept).toMatchFileSnapshot(`${golden}/outputs/${text}`);
  const { state } = await mustLoad(open(directory), run);
  await expect(`${JSON.stringify(state, null, 2)}\n`).toMatchFileSnapshot(
    `fixtures/v${journalVersion}/${run}.json`,
  );
});

test('every released version loads to the same state, from the snapshot and from the journal alone', async () => {
  const versions = readdirSync(fixtures);
  expect(versions).toContain('v1');
  for (const version of versions) {
    const directory = temporary();
    cpSync(join(fixtures, version), directory, { recursive: true });
    const expected = JSON.parse(readFileSync(join(directory, `${run}.json`), 'utf8'));
    expect((await mustLoad(open(directory), run)).state).toEqual(expected);
    rmSync(join(directory, run, 'state.json'));
    const loaded = await mustLoad(open(directory), run, 'k1');
    expect(loaded.state).toEqual(expected);
    expect(loaded.repeated).toEqual({ reply: { ok: true } });
    expect(await open(directory).check(run)).toMatchObject({ problems: [], harmless: [] });
    expect(await note(open(directory), run, 'further')).toMatchObject({ seq: loaded.version.seq + 1 });
  }
});

test('an older line is migrated step by step, a newer one is refused', () => {
  const migrations = {
    1: (old: Record<string, unknown>) => ({ ...old, second: true }),
    2: (old: Record<string, unknown>) => ({ ...old, third: old.second }),
  };
  expect(migrateLine({ v: 1 }, { to: 3, migrations })).toEqual({ v: 3, second: true, third: true });
  expect(migrateLine({ v: 3 }, { to: 3, migrations })).toEqual({ v: 3 });
  expect(migrateLine({ v: 4 }, { to: 3, migrations })).toBeUndefined();
  expect(newerError('r', 2)).toMatchObject({ code: 'store_newer', data: { version: 2 } });
});
