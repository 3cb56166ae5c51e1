import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStore, temporaryDirectory, unsyncedFiles } from '../../../test/kit/file-store.ts';
import { begin, mustLoad, note, sampleDefinition } from '../../../test/kit/sample-run.ts';
import { slug } from '../../machine/index.ts';
import { stateFileSchema } from '../state-schema.ts';
import type { Files } from './files.ts';

const run = 'sample-1-abcd';

function newStoreDirectory() {
  const directory = join(temporaryDirectory(), '.stepfast', 'runs');
  const of = (name: string): string => join(directory, run, name);
  return {
    directory,
    journal: of('journal.jsonl'),
    state: of('state.json'),
    workflow: of('workflow.json'),
    of,
  };
}

/** The number of journal bytes that a load reads. */
async function journalBytesRead(directory: string): Promise<number> {
  const files = unsyncedFiles();
  let bytes = 0;
  const counting: Files = {
    ...files,
    read: async (path, from) => {
      const read = await files.read(path, from);
      if (path.endsWith('journal.jsonl')) bytes += read?.length ?? 0;
      return read;
    },
  };
  await mustLoad(openStore(directory, { files: counting }), run);
  return bytes;
}

test('[002/2] state.json fits its schema, is readable, and keeps created_at', async () => {
  const { directory, state } = newStoreDirectory();
  const store = openStore(directory);
  await begin(store, run);
  const first = stateFileSchema.parse(JSON.parse(readFileSync(state, 'utf8')));
  await note(store, run, 'one');
  const text = readFileSync(state, 'utf8');
  const second = stateFileSchema.parse(JSON.parse(text));
  expect(text).toContain('\n  "workflow": "sample (Sample)",\n');
  expect(second).toMatchObject({ created_at: first.created_at, context: { plan_id: 1, said: 'one' } });
  expect(second.updated_at > first.updated_at).toBe(true);
});

test('a load reads only the end of the journal, however long the journal is', async () => {
  const { directory, journal } = newStoreDirectory();
  const store = openStore(directory);
  await begin(store, run);
  for (let count = 0; count < 30; count += 1) await note(store, run, `note ${count}`);
  const whole = readFileSync(journal).length;
  expect(await journalBytesRead(directory)).toBeLessThan(whole / 20);
});

test('[P6/9] a state.json that is missing, torn, edited or outdated is ignored and recreated', async () => {
  const { directory, journal, state } = newStoreDirectory();
  const store = openStore(directory);
  await begin(store, run);
  const early = readFileSync(state, 'utf8');
  await note(store, run, 'true');
  const good = readFileSync(state, 'utf8');
  const { state: expected } = await mustLoad(store, run);
  const spoilt = [
    good.replaceAll('true', 'edit'),
    good.replace('"status": "in_progress"', '"status": "completed"'),
    good.slice(0, good.length >> 1),
    good.slice(0, -1),
    `${good.slice(0, -2)}\0\0`,
    '',
    'null',
    early,
    good.replaceAll('\n', '\r\n'),
  ];
  for (const text of spoilt) {
    writeFileSync(state, text);
    expect((await mustLoad(openStore(directory), run)).state).toEqual(expected);
    expect(readFileSync(state, 'utf8')).toBe(good);
  }
  rmSync(state);
  expect((await mustLoad(openStore(directory), run)).state).toEqual(expected);
  expect(readFileSync(state, 'utf8')).toBe(good);
  expect(await journalBytesRead(directory)).toBeLessThan(readFileSync(journal).length / 2);
});

test('[P6/9] a projection that cannot be written fails no call', async () => {
  const { directory, state } = newStoreDirectory();
  const files = unsyncedFiles();
  const store = openStore(directory, {
    files: {
      ...files,
      rename: async () => {
        throw new Error('EPERM');
      },
    },
  });
  expect(await begin(store, run)).toMatchObject({ seq: 1 });
  expect(await note(store, run, 'one')).toMatchObject({ seq: 2 });
  expect(existsSync(state)).toBe(false);
  expect((await mustLoad(store, run)).state.variables.said).toBe('one');
  expect(readdirSync(join(directory, run)).sort()).toEqual(['journal.jsonl']);
});

test('[P6/9] a new run syncs the journal, then every new name, before it returns', async () => {
  const root = temporaryDirectory();
  const directory = join(root, '.stepfast', 'runs');
  const calls: string[] = [];
  const files = unsyncedFiles();
  const short = (path: string): string => path.replace(root, '').replaceAll('\\', '/') || '/';
  const traced: Files = {
    ...files,
    makeDirectory: async (path) => {
      await files.makeDirectory(path);
      calls.push(`make ${short(path)}`);
    },
    append: async (path, bytes) => {
      calls.push(`append ${short(path)}`);
      return files.append(path, bytes);
    },
    sync: async (path) => void calls.push(`sync ${short(path)}`),
    syncDirectory: async (path) => void calls.push(`sync ${short(path)}`),
  };
  await begin(openStore(directory, { files: traced }), run);
  const runRoot = `/.stepfast/runs/${run}`;
  expect(calls).toEqual([
    'make /.stepfast',
    'sync /',
    'make /.stepfast/runs',
    'sync /.stepfast',
    `make ${runRoot}`,
    'sync /.stepfast/runs',
    `append ${runRoot}/journal.jsonl`,
    `sync ${runRoot}/journal.jsonl`,
    `sync ${runRoot}`,
    'sync /.stepfast/runs',
    'sync /.stepfast',
    'sync /',
  ]);
});

test('a swapped workflow.json changes nothing, because the journal has the pinned workflow', async () => {
  const { directory, workflow } = newStoreDirectory();
  const store = openStore(directory);
  await begin(store, run);
  const good = readFileSync(workflow, 'utf8');
  writeFileSync(workflow, good.replace('Design it', 'Delete it'));
  expect(await store.check(run)).toMatchObject({ problems: [], harmless: [{ kind: 'workflow' }] });
  expect((await mustLoad(openStore(directory), run)).definition).toEqual(sampleDefinition);
  expect(readFileSync(workflow, 'utf8')).toBe(good);
});

test('[P6/8] a long text is durable before the batch that refers to it', async () => {
  const { directory, of } = newStoreDirectory();
  await begin(openStore(directory), run);
  const calls: string[] = [];
  const files = unsyncedFiles();
  const store = openStore(directory, {
    files: {
      ...files,
      sync: async () => void calls.push('sync'),
      rename: async (from, to) => {
        calls.push('rename');
        await files.rename(from, to);
      },
      syncDirectory: async (path) => void calls.push(`directory ${path.split(/[\\/]/).at(-1)}`),
    },
  });
  const { digest } = await store.keep(run, 'long '.repeat(500));
  expect(calls).toEqual([
    `directory ${run}`,
    'sync',
    'rename',
    'directory outputs',
    `directory ${run}`,
    'directory runs',
  ]);
  const [name = ''] = readdirSync(of('outputs'));
  expect(name).toBe(`${digest.slice(7)}.txt`);
  writeFileSync(join(of('outputs'), name), 'edited');
  await expect(store.text(run, digest)).rejects.toMatchObject({ code: 'store_corrupt' });
  await store.keep(run, 'long '.repeat(500));
  expect(await store.text(run, digest)).toBe('long '.repeat(500));
});

test('check reads every long text of an event', async () => {
  const { directory, of } = newStoreDirectory();
  const store = openStore(directory);
  await begin(store, run);
  const loaded = await mustLoad(store, run);
  const kept = await store.keep(run, 'long '.repeat(500));
  const events = [{ type: 'todo.replaced' as const, content: kept, now: 5 }];
  await store.append(loaded, { now: 5, events }, { ...loaded.state, todo: kept, updatedAt: 5 });
  expect((await store.check(run))?.problems).toEqual([]);
  const path = join(of('outputs'), `${kept.digest.slice(7)}.txt`);
  writeFileSync(path, 'edited');
  expect((await store.check(run))?.problems).toMatchObject([{ kind: 'text', line: 4 }]);
  rmSync(path);
  expect((await store.check(run))?.problems).toMatchObject([{ kind: 'text' }]);
});

test('[002/5] each run has its own directory with a sanitized name', async () => {
  const { directory } = newStoreDirectory();
  const store = openStore(directory);
  for (const name of ['Feature Implementation (User Auth)', 'QA Loop', '../../Escape'])
    await begin(store, `${slug(name)}-20261115-abcd`);
  expect(readdirSync(directory).sort()).toEqual([
    'escape-20261115-abcd',
    'feature-implementation-user-auth-20261115-abcd',
    'qa-loop-20261115-abcd',
  ]);
  await note(store, 'qa-loop-20261115-abcd', 'only here');
  const said = (await store.list()).map(({ run: id, state }) => [id, state?.variables.said]);
  expect(said.filter(([, text]) => text !== undefined)).toEqual([['qa-loop-20261115-abcd', 'only here']]);
});

test('other directories are skipped, and one bad run does not break the list', async () => {
  const { directory, journal } = newStoreDirectory();
  const store = openStore(directory);
  await begin(store, 'good-1-abcd');
  await begin(store, run);
  writeFileSync(journal, `${readFileSync(journal, 'utf8').trim()}x`);
  writeFileSync(join(directory, 'README.md'), 'hello');
  mkdirSync(join(directory, 'empty-1-abcd'));
  expect((await openStore(directory).list()).map((info) => info.run)).toEqual(['good-1-abcd', run]);
  expect(await store.load('empty-1-abcd')).toBeUndefined();
  expect(await begin(store, 'empty-1-abcd')).toMatchObject({ seq: 1 });
});

test('a short write is followed by the complete line', async () => {
  const { directory } = newStoreDirectory();
  const files = unsyncedFiles();
  for (const missing of [1, 2, 40]) {
    let once = true;
    const store = openStore(directory, {
      files: {
        ...files,
        append: async (path, bytes) => {
          if (!once) return files.append(path, bytes);
          once = false;
          return files.append(path, bytes.subarray(0, -missing));
        },
      },
    });
    const id = `short-${missing}`;
    expect(await begin(store, id)).toMatchObject({ seq: 1 });
    expect(await note(openStore(directory), id, 'next')).toMatchObject({ seq: 2 });
    expect((await store.check(id))?.problems).toEqual([]);
  }
});

test('a full disk fails the call, and the run continues when there is space', async () => {
  const { directory } = newStoreDirectory();
  const files = unsyncedFiles();
  let full = false;
  const store = openStore(directory, {
    files: {
      ...files,
      append: async (path, bytes) => {
        if (!full) return files.append(path, bytes);
        await files.append(path, bytes.subarray(0, 10));
        throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
      },
    },
  });
  await begin(store, run);
  full = true;
  await expect(note(store, run, 'one')).rejects.toMatchObject({
    code: 'store_failed',
  });
  full = false;
  expect(await note(store, run, 'one')).toMatchObject({ seq: 2 });
});

test('zod is not loaded with the store', () => {
  const index = new URL('../index.ts', import.meta.url).href;
  const script = `import { registerHooks } from 'node:module';
    const resolve = (name, context, next) => (console.log(name), next(name, context));
    registerHooks({ resolve });
    await import(${JSON.stringify(index)});`;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect(output).toContain('journal.ts');
  expect(output).not.toContain('zod');
});
