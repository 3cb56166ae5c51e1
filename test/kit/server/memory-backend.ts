import { hashDefinition } from '../../../src/definition/index.ts';
import { createEngine, type Engine, type ListedRun, newRun } from '../../../src/engine/index.ts';
import { createPages, createRowIndex, createRuntime, knownWorkflows } from '../../../src/runtime/index.ts';
import type { Backend, TokenRecord } from '../../../src/server/index.ts';
import type { Entry, RunInfo, Store } from '../../../src/store/index.ts';
import type { Publication, TailRow, Wake, WakeListener } from '../../../src/store/postgres/index.ts';
import { hashToken, newToken } from '../../../src/token-format.ts';
import { none } from '../../../src/workspace/index.ts';
import { createMemoryStore } from '../memory-store.ts';

export interface MemoryBackend extends Backend {
  addToken(hash: string, record: TokenRecord): void;
  revoke(hash: string): void;
  /** Makes the next calls fail as a database does that is gone. */
  breakDown(error: Error | undefined): void;
  /** As a commit of another server does. */
  wakeUp(): void;
  /** What was recorded, and the ids of the tokens that were used. */
  readonly audited: object[];
  readonly used: string[];
  /** How often the stream was asked for. */
  readonly asked: number;
}

/** Everything of a server but the database: for tests of what HTTP does. */
export function createMemoryBackend(projects: Readonly<Record<string, number>>): MemoryBackend {
  const engines = new Map<number, { engine: Engine; store: Store; rows: TailRow[] }>();
  const tokens = new Map<string, TokenRecord>();
  const listeners = new Set<WakeListener>();
  const [audited, used]: [object[], string[]] = [[], []];
  const secrets = new Map<string, string>();
  const publications = new Map<number, Publication[]>();
  const publishedIn = (project: number): Publication[] => {
    const known = publications.get(project) ?? [];
    publications.set(project, known);
    return known;
  };
  let last = 1000n;
  let asked = 0;
  let broken: Error | undefined;
  const wake = (what: Wake): void => {
    for (const listener of listeners) listener(what);
  };

  function partOf(project: number) {
    const known = engines.get(project);
    if (known) return known;
    const rows: TailRow[] = [];
    const inner = createMemoryStore();
    const tell = (run: string, seq: number, { now, actor, session, events }: Entry): void => {
      last += 1n;
      rows.push({ cursor: String(last), run, seq, batch: JSON.stringify({ now, actor, session, events }) });
      queueMicrotask(() => wake('runs'));
    };
    const store: Store = {
      ...inner,
      async create(run, pinned, entry, state) {
        if (broken) throw broken;
        const version = await inner.create(run, pinned, entry, state);
        if (version !== 'taken') tell(run, version.seq, entry);
        return version;
      },
      async load(run, key) {
        if (broken) throw broken;
        return await inner.load(run, key);
      },
      async append(loaded, entry, state) {
        const version = await inner.append(loaded, entry, state);
        if (version !== 'conflict') tell(loaded.run, version.seq, entry);
        return version;
      },
    };
    const part = { store, rows, engine: createEngine({ store, newRun, hashOf: hashDefinition }) };
    engines.set(project, part);
    return part;
  }

  return {
    engine: (project) => partOf(project).engine,
    pages(project) {
      const { store, engine } = partOf(project);
      const definitions = async () => {
        const views = await Promise.all((await store.list()).map(({ run }) => store.load(run)));
        return views.flatMap((view) => view?.definition ?? []);
      };
      const named = async (name: string) => (await definitions()).find((each) => each.name === name);
      const workspace = none({ named, all: definitions });
      const sizes = async () =>
        new Map((await store.list()).map(({ run, state }) => [run, state?.updatedAt ?? 0]));
      return createPages({
        load: (run) => store.load(run),
        entries: store.entries,
        rows: createRowIndex({ sizes, load: store.load }),
        briefings: createRuntime({ engine, workspace, clock: Date.now }).briefings,
        workspace,
        workflows: () => knownWorkflows(workspace),
      });
    },
    async list(project, { live, after, limit }) {
      const runs = (await partOf(project).store.list()).filter(
        ({ state }) =>
          live === undefined || (state?.status === 'running' || state?.status === 'waiting') === live,
      );
      const from = after === undefined ? 0 : runs.findIndex(({ run }) => run === after) + 1;
      const page = runs.slice(from, from + limit);
      const next = from + limit < runs.length ? page.at(-1)?.run : undefined;
      return { runs: page.map(listed), ...(next === undefined ? {} : { next }) };
    },
    sessions(project) {
      const { store } = partOf(project);
      return {
        join: async () => undefined,
        runsOf: async (session, limit) =>
          (await store.list())
            .filter(({ state }) => state && Object.hasOwn(state.sessions, session))
            .slice(0, limit),
      };
    },
    publications(project) {
      const published = publishedIn(project);
      return {
        publish: async (publication) => void published.unshift(publication),
        async newest(limit, name) {
          const byName = new Map(
            published.toReversed().map(({ definition }) => [definition.name, definition]),
          );
          return [...byName.values()]
            .filter((each) => name === undefined || each.name === name)
            .slice(0, limit);
        },
        mayStart: async () => true,
      };
    },
    people(project) {
      const name = Object.keys(projects).find((each) => projects[each] === project) ?? '';
      const issue = (record: Omit<TokenRecord, 'id' | 'project'>) => {
        const { id, token } = newToken();
        tokens.set(hashToken(token), { id, project: { id: project, name }, ...record });
        return { id, token };
      };
      const keyOf = (person: string): string => JSON.stringify([project, person]);
      return {
        async join(invitation, secret) {
          const [hash, found] = [...tokens].find(([, { id }]) => id === invitation) ?? [];
          if (hash === undefined || !found) return undefined;
          tokens.delete(hash);
          secrets.set(keyOf(found.name), secret);
          return issue({ kind: 'agent', name: found.name, scopes: ['read', 'write', 'gates'] });
        },
        secretOf: async (person) => secrets.get(keyOf(person)),
        makeCredential: async (person, { scopes, seconds }) =>
          issue({ kind: 'person', name: person, scopes, expiresAt: Date.now() + seconds * 1000 }),
      };
    },
    async tail(project, after, limit) {
      asked += 1;
      if (broken) throw broken;
      const now = String(last);
      if (after === undefined) return { rows: [], cursor: now };
      if (BigInt(after) > last) return { rows: [], cursor: now, reset: true };
      const rows = partOf(project)
        .rows.filter((row) => BigInt(row.cursor) > BigInt(after))
        .slice(0, limit);
      return { rows, cursor: rows.length === limit ? (rows.at(-1)?.cursor ?? now) : now };
    },
    onWake(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    findToken: async (hash) => tokens.get(hash),
    makeToken: async () => undefined,
    useToken: async (_project, id) => void used.push(id),
    audit: async (project, action, by) => void audited.push({ project, ...action, by }),
    audited,
    used,
    projectNamed: async (name) => {
      const id = Object.hasOwn(projects, name) ? projects[name] : undefined;
      return id === undefined ? undefined : { id, name };
    },
    async ready() {
      if (broken) throw broken;
    },
    close: async () => undefined,
    addToken: (hash, record) => void tokens.set(hash, record),
    revoke(hash) {
      tokens.delete(hash);
      wake('tokens');
    },
    wakeUp: () => wake('runs'),
    breakDown: (error) => {
      broken = error;
    },
    get asked() {
      return asked;
    },
  };
}

const listed = ({ run, state }: RunInfo): ListedRun => ({ run, ...(state ? { state } : {}) });
