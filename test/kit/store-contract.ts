import { describe, expect, test } from 'vitest';
import { longTextBytes } from '../../src/store/long-text.ts';
import { maxRememberedKeys } from '../../src/store/remembered-keys.ts';
import type { Store } from '../../src/store/store.ts';
import {
  begin,
  mustLoad,
  note,
  noteCommand,
  sampleDefinition,
  samplePinned,
  send,
  settled,
} from './sample-run.ts';

const run = 'sample-20261115-k3f9x2ab';
const other = 'sample-20261115-zzzzzzzz';
const unusual = 'ß 漢字 👩‍👩‍👧 \u0000 \n\r\n \u2028 "\\" \ud800 end';

/** The contract of every store; `create` returns an empty one. */
export function storeContract(name: string, create: () => Promise<{ store: Store }>): void {
  describe(`the ${name} store`, () => {
    test('a created run can be loaded', async () => {
      const { store } = await create();
      expect(await store.load(run)).toBeUndefined();
      const version = await begin(store, run);
      expect(version).toMatchObject({ seq: 1 });
      const loaded = await mustLoad(store, run);
      expect(loaded).toMatchObject({ run, hash: samplePinned.hash, version });
      expect(loaded.definition).toEqual(sampleDefinition);
      expect(loaded.state).toMatchObject({ run, status: 'running', step: 'design', summary: 'Sample' });
      expect(loaded).not.toHaveProperty('repeated');
    });

    test('an id can be created only once', async () => {
      const { store } = await create();
      const answers = await Promise.all([begin(store, run), begin(store, run), begin(store, run)]);
      expect(answers.filter((answer) => answer === 'taken')).toHaveLength(2);
      expect(await begin(store, run)).toBe('taken');
      expect(await store.entries(run)).toHaveLength(1);
    });

    test('an invalid run id is refused', async () => {
      const { store } = await create();
      for (const bad of ['', '..', 'a/b', 'A', 'a b', '../../etc', 'x'.repeat(129)]) {
        await expect(begin(store, bad)).rejects.toMatchObject({ code: 'bad_run_id' });
        await expect(store.keep(bad, 'text')).rejects.toMatchObject({ code: 'bad_run_id' });
        expect(await store.load(bad)).toBeUndefined();
        expect(await store.entries(bad)).toEqual([]);
        expect(await store.text(bad, `sha256:${'0'.repeat(64)}`)).toBeUndefined();
        await store.remove(bad);
        await store.watch(bad, 0, 0);
      }
      expect(await store.ids()).toEqual([]);
    });

    test('entries returns the batches in order', async () => {
      const { store } = await create();
      await begin(store, run);
      expect(await note(store, run, 'one')).toMatchObject({ seq: 2 });
      const loaded = await mustLoad(store, run);
      const actor = { kind: 'person' as const, name: 'ann' };
      const { now } = noteCommand(loaded, 'two');
      const { events, state } = settled(loaded.state, { ...noteCommand(loaded, 'two'), actor });
      const version = await store.append(loaded, { now, actor, session: 'S', events }, state);
      const entries = await store.entries(run);
      expect(entries.map(({ seq }) => seq)).toEqual([1, 2, 3]);
      expect(new Set(entries.map(({ hash }) => hash)).size).toBe(3);
      expect(entries[2]).toEqual({
        ...Object(version),
        now,
        actor,
        session: 'S',
        events,
      });
      expect(await store.entries(run, 2)).toEqual(entries.slice(2));
      expect(await store.entries(run, 3)).toEqual([]);
      expect(await store.entries(run, 1, 1)).toEqual(entries.slice(1, 2));
      expect(await store.entries(run, 0, 9)).toEqual(entries);
      expect(await store.entries(other)).toEqual([]);
      expect((await mustLoad(store, run)).version).toEqual(version);
    });

    test('exactly one of many appends to the same version wins, and the others write nothing', async () => {
      const { store } = await create();
      await begin(store, run);
      const loaded = await Promise.all(Array.from({ length: 8 }, () => mustLoad(store, run)));
      const answers = await Promise.all(
        loaded.map((each, writer) => send(store, each, noteCommand(each, `writer ${writer}`))),
      );
      const winners = answers.flatMap((answer, writer) => (answer === 'conflict' ? [] : [writer]));
      expect(winners).toHaveLength(1);
      expect((await mustLoad(store, run)).state.variables).toEqual({ said: `writer ${winners[0]}` });
      expect(await store.entries(run)).toHaveLength(2);
    });

    test('an outdated version is a conflict, and so is a version of a removed run', async () => {
      const { store } = await create();
      await begin(store, run);
      const old = await mustLoad(store, run);
      await note(store, run, 'meanwhile');
      expect(await send(store, old, noteCommand(old, 'late'))).toBe('conflict');
      await store.remove(run);
      expect(await send(store, old, noteCommand(old, 'late'))).toBe('conflict');
      expect(await store.load(run)).toBeUndefined();
    });

    test('a repeated key returns the earlier reply', async () => {
      const { store } = await create();
      await begin(store, run);
      const reply = { at: 'x', nested: [1, null, { text: unusual }] };
      await note(store, run, 'one', { key: 'first', reply });
      await note(store, run, 'two');
      expect((await mustLoad(store, run, 'first')).repeated).toEqual({ reply });
      expect(await mustLoad(store, run, 'other')).not.toHaveProperty('repeated');
      expect(await mustLoad(store, run)).not.toHaveProperty('repeated');
      await note(store, run, 'three', { key: 'constructor', reply: null });
      expect((await mustLoad(store, run, 'constructor')).repeated).toEqual({ reply: null });
    });

    test('[S10] the fingerprint of a key is stored with it, and absent if there was none', async () => {
      const { store } = await create();
      await begin(store, run);
      await note(store, run, 'one', { key: 'new', reply: 1, fingerprint: 'f1' });
      await note(store, run, 'two', { key: 'old', reply: 2 });
      expect((await mustLoad(store, run, 'new')).repeated).toEqual({ reply: 1, fingerprint: 'f1' });
      expect((await mustLoad(store, run, 'old')).repeated).toEqual({ reply: 2 });
      expect((await store.entries(run))[1]).toMatchObject({ key: 'new', fingerprint: 'f1' });
    });

    test('a key without a reply is recognized', async () => {
      const { store } = await create();
      await begin(store, run);
      await note(store, run, 'one', { key: 'k' });
      expect((await mustLoad(store, run, 'k')).repeated).toBeDefined();
      expect((await mustLoad(store, run, 'k')).repeated?.reply).toBeUndefined();
    });

    test('long texts are stored by their digest', async () => {
      const { store } = await create();
      await begin(store, run);
      const text = `${'é'.repeat(299)}👍${'x'.repeat(longTextBytes)}`;
      const kept = await store.keep(run, text);
      expect(kept.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
      expect(kept.bytes).toBe(Buffer.byteLength(text));
      expect(kept.opening).toBe('é'.repeat(299));
      expect(await store.keep(run, text)).toEqual(kept);
      expect(await store.text(run, kept.digest)).toBe(text);
      expect(await store.text(run, `sha256:${'0'.repeat(64)}`)).toBeUndefined();
      expect(await store.text(run, '../../journal')).toBeUndefined();
      expect(await store.text(other, kept.digest)).toBeUndefined();
      expect(await store.text(run, (await store.keep(run, '')).digest)).toBe('');
    });

    test('a text can be stored before its run starts', async () => {
      const { store } = await create();
      const { digest } = await store.keep(run, 'early');
      expect(await store.load(run)).toBeUndefined();
      expect(await store.list()).toEqual([]);
      expect(await begin(store, run)).toMatchObject({ seq: 1 });
      expect(await store.text(run, digest)).toBe('early');
    });

    test('runs are listed newest first', async () => {
      const { store } = await create();
      expect(await store.list()).toEqual([]);
      await begin(store, 'a-old', { age: 2000 });
      await begin(store, 'b-new');
      await begin(store, 'c-middle', { age: 1000 });
      await note(store, 'a-old', 'later');
      const list = await store.list();
      expect(list.map((info) => info.run)).toEqual(['b-new', 'c-middle', 'a-old']);
      expect(list[2]?.state).toEqual((await mustLoad(store, 'a-old')).state);
      expect((await store.ids()).sort()).toEqual(['a-old', 'b-new', 'c-middle']);
      expect(await store.ids('old')).toEqual(['a-old']);
      expect(await store.ids('b-new')).toEqual(['b-new']);
      for (const name of ['ld', '-old', 'a', '%', '_-new', '']) expect(await store.ids(name)).toEqual([]);
    });

    test('a removed run loses its texts, and its id is free again', async () => {
      const { store } = await create();
      await store.remove(run);
      await begin(store, run);
      await note(store, run, 'one');
      const { digest } = await store.keep(run, 'text');
      await store.remove(run);
      expect(await store.load(run)).toBeUndefined();
      expect(await store.list()).toEqual([]);
      expect(await store.entries(run)).toEqual([]);
      expect(await store.text(run, digest)).toBeUndefined();
      expect(await begin(store, run)).toMatchObject({ seq: 1 });
      expect((await mustLoad(store, run)).state.variables).toEqual({});
    });

    test('watch resolves when the run changes, at once if it already has, else after its timeout', async () => {
      const { store } = await create();
      await begin(store, run);
      await store.watch(run, 0, 60_000);
      await store.watch(other, 0, 60_000);
      await store.watch(run, 1, 1);
      let woken = false;
      const watching = store.watch(run, 1, 60_000).then(() => {
        woken = true;
      });
      await new Promise((resolve) => setTimeout(resolve, 30));
      expect(woken).toBe(false);
      await note(store, run, 'one');
      await watching;
      expect(woken).toBe(true);
    });

    test('runs are independent', async () => {
      const { store } = await create();
      await begin(store, run);
      await begin(store, other);
      await note(store, run, 'mine', { key: 'k', reply: 1 });
      expect((await mustLoad(store, other, 'k')).version.seq).toBe(1);
      expect(await mustLoad(store, other, 'k')).not.toHaveProperty('repeated');
      await store.remove(run);
      expect((await mustLoad(store, other)).state.run).toBe(other);
    });

    test('results share no objects with the store', async () => {
      const { store } = await create();
      await begin(store, run);
      const reply = { list: [1] };
      await note(store, run, 'one', { key: 'k', reply });
      reply.list.push(2);
      const loaded = await mustLoad(store, run, 'k');
      const before = JSON.stringify(loaded);
      loaded.state.variables.said = 'changed';
      loaded.definition.steps.length = 0;
      Object(loaded.repeated?.reply).list.push(3);
      for (const entry of await store.entries(run)) entry.events.length = 0;
      for (const info of await store.list()) Object(info.state).status = 'failed';
      expect(JSON.stringify(await mustLoad(store, run, 'k'))).toBe(before);
      expect((await store.entries(run)).every((entry) => entry.events.length > 0)).toBe(true);
    });

    test('unusual text survives as in JSON, long text as in UTF-8', async () => {
      const { store } = await create();
      await begin(store, run);
      await note(store, run, unusual, { key: unusual, reply: unusual });
      const loaded = await mustLoad(store, run, unusual);
      expect(loaded.state.variables.said).toBe(unusual);
      expect(loaded.repeated).toEqual({ reply: unusual });
      const kept = await store.keep(run, unusual);
      expect(await store.text(run, kept.digest)).toBe(unusual.toWellFormed());
      expect(kept.opening).toBe(unusual.toWellFormed());
    });

    test('no key is forgotten, however many keys there are', async () => {
      const { store } = await create();
      await begin(store, run);
      for (let use = 0; use <= maxRememberedKeys; use += 1)
        await note(store, run, `${use}`, { key: `k${use}`, reply: use });
      for (const use of [0, 1, maxRememberedKeys])
        expect((await mustLoad(store, run, `k${use}`)).repeated).toEqual({ reply: use });
      expect(await mustLoad(store, run, 'k')).not.toHaveProperty('repeated');
    });
  });
}
