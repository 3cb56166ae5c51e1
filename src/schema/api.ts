// The HTTP API as data. Hooks bundle this file, so it imports nothing: wire.ts has the bodies.

/** What the server serves and the remote engine calls. */
export const apiVersion = 1;
/** In every answer of a server, and in every request of ours: the version of the API that it speaks. */
export const apiHeader = 'stepfast-api';
/** In every answer of a server: the version of its package, for messages. */
export const versionHeader = 'stepfast-version';

/** Of keys that the client makes for itself: what they repeat is not shown as `replayed`. */
export const ownKeyPrefix = 'auto:';

/** Most runs of one page. */
export const maxPage = 200;
/** Longest a server holds a `watch`. */
export const maxWatchMs = 25_000;
/** Largest body of a request: an output of 256 KiB, escaped, and what is around it. */
export const maxBodyBytes = 4 * 1024 * 1024;

export const paths = {
  runs: '/v1/runs',
  run: (run: string): string => `/v1/runs/${encodeURIComponent(run)}`,
  commands: (run: string): string => `${paths.run(run)}/commands`,
  entries: (run: string): string => `${paths.run(run)}/entries`,
  text: (run: string, digest: string): string => `${paths.run(run)}/texts/${encodeURIComponent(digest)}`,
  watch: (run: string): string => `${paths.run(run)}/watch`,
  events: '/v1/events',
  whoami: '/v1/whoami',
  mcp: '/mcp',
} as const;

export const scopes = ['read', 'write', 'gates', 'decide', 'admin'] as const;
export type Scope = (typeof scopes)[number];

/** Of every status from 400; `Retry-After` (seconds) with 429 and 503. */
export interface ErrorAnswer {
  code: string;
  message: string;
  next?: string;
}

/** Codes that the API itself gives; those of an engine (`no_run`, `busy`, `store_failed`, …) go through unchanged. */
export const errorStatus = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  no_route: 404,
  too_large: 413,
  not_json: 415,
  not_understood: 422,
  too_many_requests: 429,
  unavailable: 503,
} as const;

export type ErrorCode = keyof typeof errorStatus;

/** Of an engine's errors; what is not named here is a 500. */
export const engineStatus: Readonly<Record<string, number>> = {
  no_run: 404,
  busy: 409,
  key_reused: 422,
  store_forked: 409,
  store_corrupt: 409,
  store_newer: 409,
  store_failed: 503,
  store_busy: 503,
  schema_old: 503,
  bad_run_id: 400,
  state_too_large: 413,
};

export const etagOf = ({ hash }: { hash: string }): string => `"${hash}"`;

export const preferHeader = 'prefer';
const wantsView = 'return=representation';

/** In a header, because older servers refuse a query or a body that they do not know. */
export const preferenceOf = (check?: string): string =>
  check === undefined ? wantsView : `${wantsView}, check=${encodeURIComponent(check)}`;

export function preferenceIn(header: string | null): { view: boolean; check?: string } {
  const parts = header?.split(/[,;]/).map((part) => part.trim()) ?? [];
  const check = parts.find((part) => part.startsWith('check='))?.slice('check='.length);
  const view = parts.includes(wantsView);
  try {
    return { view, ...(check === undefined ? {} : { check: decodeURIComponent(check) }) };
  } catch {
    return { view };
  }
}
