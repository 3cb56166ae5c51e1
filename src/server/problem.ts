import { StepfastError } from '../errors.ts';
import { refusalText, shellVoice } from '../messages/index.ts';
import { refusedBy } from '../runtime/index.ts';
import { type ErrorAnswer, type ErrorCode, engineStatus, errorStatus, type Scope } from '../schema/index.ts';

/** An HTTP error response. */
export interface Problem {
  status: number;
  body: ErrorAnswer;
  headers: Readonly<Record<string, string>>;
}

export const problem = (
  code: ErrorCode,
  message: string,
  options: { next?: string; headers?: Record<string, string> } = {},
): StepfastError => new StepfastError(code, message, { data: options });

export const missingScope = (scope: Scope) =>
  problem('forbidden', `This token does not have the scope '${scope}'.`, {
    next:
      scope === 'decide'
        ? 'end your turn: a person must decide this'
        : `use a token with that scope: stepfast token create --scope ${scope}`,
    headers: { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
  });

/** A decision was sent as that of a person. The client of a person at a terminal gets a credential and sends it again. */
export const credentialRequired = ({ kind, name }: { kind: string; name: string }) =>
  problem('credential_required', `The token of the ${kind} '${name}' does not decide.`, {
    next: 'a person decides this in their own terminal, or in the dashboard',
  });

/** Replaces the store's own messages, which name hosts and users and belong in the log. */
const storeProblems: Readonly<Record<string, { status: number; message: string; next: string }>> = {
  store_failed: {
    status: 503,
    message: 'The database failed; the command may or may not have been applied.',
    next: 'retry with the same key or handle',
  },
  store_busy: {
    status: 503,
    message: 'Nothing was changed: too many calls are waiting for the database.',
    next: 'retry in a moment',
  },
  schema_old: {
    status: 503,
    message: 'The database schema is out of date.',
    next: 'run stepfast migrate on the server',
  },
  bad_run_id: {
    status: 400,
    message: 'Invalid run id.',
    next: 'use at most 128 lowercase letters, digits and hyphens',
  },
};

/** The only mapping from errors to HTTP responses. Returns undefined for a bug, whose message stays in the log. */
export function toProblem(error: unknown): Problem | undefined {
  if (!(error instanceof StepfastError)) return undefined;
  const { code } = error;
  const own = Object.hasOwn(errorStatus, code);
  const stored = Object.hasOwn(storeProblems, code) ? storeProblems[code] : undefined;
  const status = own ? errorStatus[code as ErrorCode] : (stored?.status ?? engineStatus[code]);
  if (status === undefined) return undefined;
  const refused = refusedBy(error);
  const remedy = stored?.next ?? (refused && refusalText(refused, shellVoice()).next);
  const { next = remedy, headers = {} } = own ? optionsOf(error) : {};
  const message = stored?.message ?? error.message;
  return {
    status,
    body: { code, message, ...(next === undefined ? {} : { next }) },
    headers: { ...(status === 429 || status === 503 ? { 'Retry-After': '1' } : {}), ...headers },
  };
}

const optionsOf = ({ data }: StepfastError): { next?: string; headers?: Record<string, string> } =>
  // Only `problem` sets it.
  (data ?? {}) as { next?: string; headers?: Record<string, string> };
