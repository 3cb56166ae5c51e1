import { StepfastError } from '../errors.ts';
import { refusalText, shellVoice } from '../messages/index.ts';
import { refusedBy } from '../runtime/index.ts';
import { type ErrorAnswer, type ErrorCode, engineStatus, errorStatus, type Scope } from '../schema/index.ts';

/** What the API says no with; thrown by whatever looks at a request, answered in one place. */
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

export const lacksScope = (scope: Scope) =>
  problem('forbidden', `This token lacks the scope '${scope}'.`, {
    next:
      scope === 'decide'
        ? 'end your turn: a person decides this with their own token'
        : `use a token that has it: stepfast token create --scope ${scope}`,
    headers: { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
  });

/** Of a store in a database, whose own words are for the log: they name hosts and users. */
const storeProblems: Readonly<Record<string, { status: number; message: string; next: string }>> = {
  store_failed: {
    status: 503,
    message: 'The database failed, so it is unknown whether it was done.',
    next: 'send the same call again, with the same key or handle',
  },
  store_busy: {
    status: 503,
    message: 'Nothing was done: too many calls wait for the database.',
    next: 'send the same call again in a moment',
  },
  schema_old: {
    status: 503,
    message: 'The database is not migrated.',
    next: 'run stepfast migrate on the server',
  },
  bad_run_id: {
    status: 400,
    message: 'That is no id of a run.',
    next: 'use lower-case letters, digits and hyphens, at most 128',
  },
};

/** The only mapping from an error to an HTTP answer; undefined for a bug, whose words stay in the log. */
export function problemOf(error: unknown): Problem | undefined {
  if (!(error instanceof StepfastError)) return undefined;
  const { code } = error;
  const own = Object.hasOwn(errorStatus, code);
  const stored = Object.hasOwn(storeProblems, code) ? storeProblems[code] : undefined;
  // Just looked at.
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
  // Made by `problem` alone.
  (data ?? {}) as { next?: string; headers?: Record<string, string> };
