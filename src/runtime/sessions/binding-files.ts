import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createNodeFiles, type Files, writeNoFollow } from '../../store/index.ts';
import { type Binding, encodeBinding, fileOf, parseBinding, type SessionKey, sameKey } from './binding.ts';

/**
 * Bindings of sessions to runs, one file each in `.stepfast/sessions`. A lost binding is harmless: the next call with a
 * handle binds again. An unreadable file counts as absent.
 */
export interface Bindings {
  get(key: SessionKey): Promise<Binding | undefined>;
  list(): Promise<Binding[]>;
  put(binding: Binding): Promise<void>;
  drop(key: SessionKey): Promise<void>;
  /** Removes bindings of ended runs, bindings not seen for 30 days, broken files, and the oldest beyond the limit. */
  sweep(live: ReadonlySet<string>, now: number): Promise<void>;
}

const unseenMs = 30 * 24 * 3_600_000;
const mostKept = 500;
const maxBytes = 16 * 1024;
const named = /^[0-9a-f]{32}\.json$/;
/** Left by a crash before the rename. */
const unfinished = /^[0-9a-f]{32}\.json\.[0-9a-f]+\.tmp$/;

export function createBindings(directory: string, files: Files = createNodeFiles()): Bindings {
  const folder = join(directory, 'sessions');
  const pathOf = (key: SessionKey): string => join(folder, fileOf(key));
  return {
    async get(key) {
      const binding = await read(pathOf(key));
      return binding && sameKey(binding, key) ? binding : undefined;
    },
    async list() {
      return [...(await all()).values()].flatMap((binding) => binding ?? []);
    },
    async put(binding) {
      const path = pathOf(binding);
      const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
      makeFolder();
      try {
        await files.create(temporary, Buffer.from(encodeBinding(binding)));
        await files.rename(temporary, path);
      } catch (error) {
        await files.remove(temporary).catch(() => {});
        throw error;
      }
    },
    drop: (key) => files.remove(pathOf(key)),
    sweep,
  };

  async function sweep(live: ReadonlySet<string>, now: number): Promise<void> {
    const known = [...(await all())].sort(([, a], [, b]) => (b?.seenAt ?? 0) - (a?.seenAt ?? 0));
    const stale = known.filter(
      ([, binding], index) =>
        !binding || index >= mostKept || !live.has(binding.run) || now - binding.seenAt > unseenMs,
    );
    const torn = (await names()).filter((name) => unfinished.test(name));
    for (const name of [...stale.map(([each]) => each), ...torn]) await files.remove(join(folder, name));
  }

  async function all(): Promise<Map<string, Binding | undefined>> {
    const found = new Map<string, Binding | undefined>();
    for (const name of (await names()).filter((each) => named.test(each)))
      found.set(name, await read(join(folder, name)));
    return found;
  }

  async function names(): Promise<string[]> {
    return await files.names(folder).catch(() => []);
  }

  async function read(path: string): Promise<Binding | undefined> {
    try {
      const size = await files.size(path);
      const bytes = size === undefined || size > maxBytes ? undefined : await files.read(path);
      return bytes && parseBinding(Buffer.from(bytes).toString('utf8'));
    } catch {
      return undefined;
    }
  }

  /** The folder has its own `.gitignore`, so that no other one has to be edited. */
  function makeFolder(): void {
    mkdirSync(folder, { recursive: true });
    const ignore = join(folder, '.gitignore');
    if (!existsSync(ignore)) writeNoFollow(ignore, '*\n');
  }
}
