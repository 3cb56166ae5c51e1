import { QueryClient } from '@tanstack/react-query';
import type {
  BriefingPage,
  Decision,
  DryRunPage,
  FilesPage,
  JournalEntry,
  JournalPage,
  LogPage,
  Overview,
  Rows,
  RunPage,
  Tone,
  WorkflowPage,
  Workflows,
} from '../api-types.ts';
import { rememberRows } from './live-rows.ts';

/** What the server answered instead of what was asked for. */
export class ApiError extends Error {
  readonly code: string;
  readonly next: string | undefined;
  constructor({ code, message, next }: { code: string; message: string; next?: string | undefined }) {
    super(message);
    this.code = code;
    this.next = next;
  }
}

export const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      gcTime: 60_000,
      retry: (failures, error) => failures < 2 && !(error instanceof ApiError),
    },
  },
});

async function readAnswer<T>(answer: Response): Promise<T> {
  const body: unknown = await answer.json().catch(() => undefined);
  if (answer.ok) return body as T; // The contract of the API.
  const {
    code = String(answer.status),
    message = answer.statusText,
    next,
  } = (body ?? {}) as {
    code?: string;
    message?: string;
    next?: string;
  };
  // A local dashboard has links instead.
  const isTeam = answer.status === 401 && answer.headers.get('www-authenticate') !== null;
  if (isTeam) throw new ApiError({ code: 'sign_in', message, next });
  throw new ApiError({ code, message: message || `The server answered ${answer.status}.`, next });
}

const get = async <T>(path: string, signal?: AbortSignal): Promise<T> =>
  readAnswer<T>(await fetch(path, signal ? { signal } : {}));

const runPath = (run: string): string => `/v1/runs/${encodeURIComponent(run)}`;

interface Context {
  signal: AbortSignal;
}

export const overviewQuery = {
  queryKey: ['overview'],
  queryFn: ({ signal }: Context) => get<Overview>('/v1/overview', signal),
};

export const windowSize = 100;

export function rowsQuery(tone: Tone | undefined, text: string, index: number, size = windowSize) {
  const search = new URLSearchParams({ offset: String(index * size), limit: String(size) });
  if (tone) search.set('tone', tone);
  if (text) search.set('text', text);
  return {
    queryKey: ['rows', tone ?? 'all', text, size, index],
    queryFn: async ({ signal }: Context) => {
      const found = await get<Rows>(`/v1/rows?${search}`, signal);
      rememberRows(found.rows);
      return found;
    },
  };
}

export const runQuery = (run: string) => ({
  queryKey: ['run', run, 'page'],
  queryFn: ({ signal }: Context) => get<RunPage>(`${runPath(run)}/page`, signal),
});

export const briefingQuery = (run: string) => ({
  queryKey: ['run', run, 'briefing'],
  queryFn: ({ signal }: Context) => get<BriefingPage>(`${runPath(run)}/briefing`, signal),
});

const filesMs = 20_000;

export const filesQuery = (run: string) => ({
  queryKey: ['run', run, 'files'],
  queryFn: ({ signal }: Context) => get<FilesPage>(`${runPath(run)}/files`, signal),
  // No event tells that a file was written.
  refetchInterval: ({ state }: { state: { data?: FilesPage | undefined } }) =>
    state.data?.positions?.length ? filesMs : (false as const),
});

export const workflowsQuery = {
  queryKey: ['workflows'],
  queryFn: ({ signal }: Context) => get<Workflows>('/v1/workflows', signal),
};

/** A workflow of the project by its name, or the one of a run. */
export type WorkflowSource = { name: string } | { run: string };

const workflowPath = (source: WorkflowSource): string =>
  'run' in source ? `${runPath(source.run)}/workflow` : `/v1/workflows/${encodeURIComponent(source.name)}`;

export const workflowQuery = (source: WorkflowSource) => ({
  queryKey: ['workflow', source],
  queryFn: ({ signal }: Context) => get<WorkflowPage>(workflowPath(source), signal),
});

export const dryRunQuery = (source: WorkflowSource, tasks: number, seed: number | undefined) => ({
  queryKey: ['dry-run', source, tasks, seed ?? 'smooth'],
  queryFn: ({ signal }: Context) => {
    const search = new URLSearchParams({ tasks: String(tasks) });
    if (seed !== undefined) search.set('seed', String(seed));
    return get<DryRunPage>(`${workflowPath(source)}/dry-run?${search}`, signal);
  },
});

export interface Journal {
  /** The newest first. */
  entries: JournalEntry[];
  /** The `before` of older ones; absent if all are here. */
  next?: number | undefined;
}

const journalPage = 200;
const maxNewer = 10;

const journalKey = (run: string) => ['run', run, 'journal'];

const getJournal = (
  run: string,
  search: Record<string, number>,
  signal?: AbortSignal,
): Promise<JournalPage> =>
  get(
    `${runPath(run)}/journal?${new URLSearchParams(
      Object.entries({ ...search, limit: journalPage }).map(([name, value]) => [name, String(value)]),
    )}`,
    signal,
  );

/** Fetches the newest entries, later only those that came since. */
export const journalQuery = (run: string) => ({
  queryKey: journalKey(run),
  queryFn: async ({ signal }: Context): Promise<Journal> => {
    const newest = client.getQueryData<Journal>(journalKey(run))?.entries[0]?.seq;
    let after = newest;
    const newer: JournalEntry[] = [];
    for (let page = 0; page < maxNewer && after !== undefined; page++) {
      const found = await getJournal(run, { after }, signal);
      newer.unshift(...found.entries.reverse());
      after = found.next;
    }
    // After a long sleep it is quicker to begin again.
    if (newest === undefined || after !== undefined) return getJournal(run, {}, signal);
    // Older ones may have come meanwhile.
    const known = client.getQueryData<Journal>(journalKey(run));
    return { entries: [...newer, ...(known?.entries ?? [])], next: known?.next };
  },
});

export async function loadOlder(run: string): Promise<void> {
  const before = client.getQueryData<Journal>(journalKey(run))?.next;
  if (before === undefined) return;
  const older = await getJournal(run, { before });
  client.setQueryData<Journal>(journalKey(run), (known) =>
    known?.next === before ? { entries: [...known.entries, ...older.entries], next: older.next } : known,
  );
}

const maxLog = 4_000_000;

export const logQuery = (run: string, check: string, gate: number) => {
  const queryKey = ['log', run, check, gate];
  return {
    queryKey,
    queryFn: async ({ signal }: Context): Promise<LogPage> => {
      const known = client.getQueryData<LogPage>(queryKey);
      const log: LogPage = known ?? { text: '', from: 0, to: 0, size: 0, isLive: true };
      let { text, from, to, size, isLive } = log;
      for (;;) {
        const search = new URLSearchParams({ check, gate: String(gate), from: String(to) });
        const found = await get<LogPage>(`${runPath(run)}/log?${search}`, signal);
        text += found.text;
        const grew = found.to > to;
        ({ to, size, isLive } = found);
        if (!grew || to >= size) break;
        // Of a very long log the end is shown: what failed is there.
        if (size - to > maxLog) {
          text = '';
          from = to = size - maxLog;
        }
      }
      return { text, from, to, size, isLive };
    },
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: ({ state }: { state: { data?: LogPage | undefined } }) =>
      state.data?.isLive ? 1000 : (false as const),
  };
};

/** What a person decides with for some minutes. Only in memory: the cookie, which lies on a disk, does not decide. */
let credential: string | undefined;

async function postDecision(run: string, command: Decision): Promise<Response> {
  const headers = {
    'Content-Type': 'application/json',
    ...(credential !== undefined && { Authorization: `Bearer ${credential}` }),
  };
  const body = JSON.stringify({ command });
  const answer = await fetch(`${runPath(run)}/commands`, { method: 'POST', headers, body });
  if (answer.status !== 401 || credential === undefined) return answer;
  // Its minutes are over.
  credential = undefined;
  return await postDecision(run, command);
}

/** Throws an `ApiError` also for a refusal. */
export async function sendDecision(run: string, command: Decision): Promise<void> {
  const { reply } = await readAnswer<{ reply: { code?: string; message?: string; next?: string } }>(
    await postDecision(run, command),
  );
  void client.invalidateQueries({ queryKey: ['run', run] });
  void client.invalidateQueries({ queryKey: ['overview'] });
  if (reply.code !== undefined)
    throw new ApiError({ code: reply.code, message: reply.message ?? reply.code, next: reply.next });
}

/** Whether the person is signed in now: at an issuer they may not have agreed yet. */
async function postSignIn(body: object): Promise<boolean> {
  const headers = { 'Content-Type': 'application/json' };
  const answer = await fetch('/sign-in', { method: 'POST', headers, body: JSON.stringify(body) });
  const { token } = await readAnswer<{ token?: string }>(answer);
  if (token !== undefined) credential = token;
  return token !== undefined;
}

export const signIn = (who: { project: string; name: string; passphrase: string }): Promise<boolean> =>
  postSignIn(who);

/** How people sign in on this server. */
export const signInQuery = {
  queryKey: ['sign-in'],
  queryFn: ({ signal }: Context) => get<{ issuer?: string }>('/v1/sign-in', signal),
  staleTime: Number.POSITIVE_INFINITY,
};

/** The dashboard of a checkout has no sign-in: what is on a server is decided there, or at a terminal. */
export const canSignIn = (): Promise<boolean> =>
  client.fetchQuery(signInQuery).then(
    () => true,
    () => false,
  );

export interface DeviceCode {
  url: string;
  code: string;
  device: string;
  seconds: number;
}

export const startDevice = async (): Promise<DeviceCode> =>
  readAnswer(await fetch('/sign-in/device', { method: 'POST' }));

export const redeemDevice = ({ device }: DeviceCode): Promise<boolean> => postSignIn({ device });

/** Of a person who is signed in: they can decide for some minutes. */
export const unlock = (passphrase: string): Promise<boolean> => postSignIn({ passphrase });

export async function signOut(): Promise<void> {
  credential = undefined;
  await fetch('/sign-out', { method: 'POST' });
  location.assign('/');
}
