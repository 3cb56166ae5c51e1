// The HTTP API as data. Hooks bundle this file, so it imports nothing: wire.ts has the bodies.

/** Of the server and the remote engine. */
export const apiVersion = 1;
/** The API version, in every request of the client and every response of the server. */
export const apiHeader = 'stepfast-api';
/** The server's package version, in every response; for messages. */
export const versionHeader = 'stepfast-version';

/** For keys that the client generates, for one call each: its caller never sees that it was sent twice. */
export const ownKeyPrefix = 'auto:';

/** Runs per page. */
export const maxPage = 200;
/** Longest `watch` request. */
export const maxWatchMs = 25_000;
/** Largest request body: an output of 256 KiB, escaped, and the rest. */
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
  signIn: '/v1/sign-in',
  people: '/v1/people',
  credentials: '/v1/credentials',
  tokens: '/v1/tokens',
  workflows: '/v1/workflows',
  mcp: '/mcp',
} as const;

export const scopes = ['read', 'write', 'gates', 'decide', 'admin', 'join'] as const;
export type Scope = (typeof scopes)[number];

/** The body for status 400 and up; 429 and 503 have `Retry-After`. */
export interface ErrorAnswer {
  code: string;
  message: string;
  next?: string;
}

/** Codes of the API itself; those of an engine (`no_run`, `busy`, `store_failed`, …) pass through unchanged. */
export const errorStatus = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_published: 403,
  credential_required: 403,
  wrong_passphrase: 403,
  no_route: 404,
  too_large: 413,
  not_json: 415,
  not_understood: 422,
  too_many_requests: 429,
  too_many_tries: 429,
  unavailable: 503,
} as const;

export type ErrorCode = keyof typeof errorStatus;

/** Status of an engine's errors; any other is a 500. */
export const engineStatus: Readonly<Record<string, number>> = {
  no_run: 404,
  no_workflow: 404,
  invalid_workflow: 422,
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
  quota_exceeded: 403,
};

export const etagOf = ({ hash }: { hash: string }): string => `"${hash}"`;

export const preferHeader = 'prefer';
const wantsView = 'return=representation';

/** A header, because older servers refuse unknown query parameters and body fields. */
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
