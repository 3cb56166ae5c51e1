import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { begin, mustLoad, note, noteCommand, send } from '../../../test/kit/sample-run.ts';
import { readChain, resumeChain } from './accept-lines.ts';
import type { Files } from './files.ts';
import { encodeLine, genesis, parseLines } from './journal.ts';
import { openStore, temporaryDirectory, unsyncedFiles } from './temporary.ts';

const run = 'sample-1-abcd';

function place(): { directory: string; journal: string } {
  const directory = join(temporaryDirectory(), '.stepfast', 'runs');
  return { directory, journal: join(directory, run, 'journal.jsonl') };
}

const lines = (journal: string): string[] => readFileSync(journal, 'utf8').split('\n').filter(Boolean);

/** A valid line that nobody wrote yet. */
function forged(seq: number, prev: string, { machine = 'here', nonce = 'forged' } = {}) {
  const note = { type: 'note.added' as const, id: `f${seq}`, kind: 'variable' as const, key: 'said', now: 5 };
  return encodeLine({ seq, prev, machine, nonce, now: 5, events: [{ ...note, text: nonce }] });
}

test('[P6/1] one batch is one line whose last key is the sum of the bytes before it', async () => {
  const { directory, journal } = place();
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

test('[P6/1] a torn tail of any length is ignored and swallows nobody', async () => {
  const { directory, journal } = place();
  await begin(openStore(directory), run);
  const whole = readFileSync(journal);
  const next = forged(2, JSON.parse(lines(journal)[0] ?? '').sum);
  for (let length = 0; length < next.bytes.length; length += length < next.bytes.length - 50 ? 11 : 1) {
    writeFileSync(journal, Buffer.concat([whole, next.bytes.subarray(0, length)]));
    const store = openStore(directory);
    const loaded = await mustLoad(store, run);
    expect(loaded.version.seq).toBe(1);
    // A line that lacks only its newline gets it from its successor, and was first.
    if (length === next.bytes.length - 1) expect(await note(store, run, 'late')).toBe('conflict');
    expect(await note(store, run, 'after')).toMatchObject({ seq: length === next.bytes.length - 1 ? 3 : 2 });
    expect((await mustLoad(openStore(directory), run)).state.variables.said).toBe('after');
    writeFileSync(join(directory, run, 'state.json'), '');
  }
});

test('[P6/1] any changed byte makes a line bad, so that it is never taken for another', () => {
  const { bytes } = forged(1, genesis(run));
  for (let at = 1; at < bytes.length - 1; at += 1) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(parseLines(changed).every((line) => line.kind === 'bad')).toBe(true);
  }
});

test('[P6/1] line ends of Windows change nothing', async () => {
  const { directory, journal } = place();
  const store = openStore(directory);
  await begin(store, run);
  await note(store, run, 'one');
  writeFileSync(journal, readFileSync(journal, 'utf8').replaceAll('\n', '\r\n'));
  expect((await mustLoad(openStore(directory), run)).version.seq).toBe(2);
});

test('[P6/2] a line counts only with its checksum, the next sequence and the hash of the line before', () => {
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

test('[P6/2] the end of a journal is read from a known line only where that line stands', () => {
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

/** Lets somebody else write between the look at the tail and the append. */
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

test('[P6/3] a writer that was overtaken reads it back and says conflict', async () => {
  const { directory, journal } = place();
  await begin(openStore(directory), run);
  const quick = openStore(directory, { files: { ...unsyncedFiles(), sleep: async () => {} } });
  const slow = openStore(directory, { files: overtaken(() => note(quick, run, 'quick')) });
  const loaded = await mustLoad(slow, run);
  expect(await send(slow, loaded, noteCommand(loaded, 'slow'))).toBe('conflict');
  expect(lines(journal)).toHaveLength(3);
  expect((await mustLoad(openStore(directory), run)).state.variables.said).toBe('quick');
  expect(await note(slow, run, 'slow again')).toMatchObject({ seq: 3 });
});

test('[P6/3] a writer that sees a moved tail writes nothing', async () => {
  const { directory, journal } = place();
  const store = openStore(directory);
  await begin(store, run);
  const late = openStore(directory);
  const loaded = await mustLoad(late, run);
  await note(store, run, 'first');
  const before = readFileSync(journal);
  expect(await send(late, loaded, noteCommand(loaded, 'late'))).toBe('conflict');
  expect(readFileSync(journal)).toEqual(before);
});

test('[P6/3] the answer comes after a sync, and a failed sync is an unknown outcome', async () => {
  const { directory, journal } = place();
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

test('[P6/4] a lock that nobody lets go of costs one wait and no data', async () => {
  const { directory } = place();
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

test('[P6/4] whoever lost the lock to another leaves it to that one', async () => {
  const { directory } = place();
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
  const { directory } = place();
  const files = unsyncedFiles();
  const unlocked: Files = {
    ...files,
    create: async (path, bytes) => {
      if (path.endsWith('lock')) throw new Error('no locks here');
      // Every call of every writer takes its turn.
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

test('[P6/5] a writer that is killed between append and answer left its batch, and the key tells its reply', async () => {
  const { directory } = place();
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

test('[P6/5] nothing is told from a batch that is not durable yet', async () => {
  const { directory, journal } = place();
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
