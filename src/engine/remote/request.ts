import { StepfastError } from '../../errors.ts';
import { apiHeader, apiVersion, preferHeader } from '../../schema/index.ts';
import { type Answer, answerOf, type Outcome } from './outcome.ts';

export interface RemoteOptions {
  /** The base URL of the server, with its path. */
  url: string;
  token: string;
  /** How long a call retries. */
  patienceMs: number;
  /**
   * For a short-lived process, such as a hook: all calls share the patience of one, and the view of a run is reused
   * until the next action or wait.
   */
  together?: boolean;
  /** Gets a credential of a few minutes from a person, for what the token may not do. It is kept in memory only. */
  credential?: (() => Promise<string>) | undefined;
  fetch?: typeof globalThis.fetch;
  clock?: (() => number) | undefined;
}

export interface Question {
  method?: 'GET' | 'POST' | 'DELETE';
  path: string;
  query?: Readonly<Record<string, string | number | undefined>>;
  body?: unknown;
  /** The known version. */
  etag?: string | undefined;
  /** How long the server may delay it. */
  holdMs?: number;
  /** The `Prefer` header. */
  prefer?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Plain text, no JSON. */
  plain?: boolean;
}

/** One server; retries until it answers or time is up. */
export interface Asking {
  readonly url: string;
  /**
   * Throws `server_unreachable` and `server_failed` (the outcome is unknown), `server_refused` (not performed), and
   * the codes of the server's engine. Requests are retried, so a request that changes something must have a key.
   */
  ask(question: Question): Promise<Answer>;
  /** The server's clock, estimated from its answers: it sets the deadlines. */
  now(): number;
}

/** A request without an answer by then is retried. */
const attemptMs = 10_000;
const firstPauseMs = 100;
const longestPauseMs = 2_000;
/** `Date` is in seconds, and answers take time. */
const clockSlackMs = 2_000;

export function createAsking({
  url,
  token,
  patienceMs,
  together = false,
  credential,
  fetch = globalThis.fetch,
  clock = Date.now,
}: RemoteOptions): Asking {
  let waited = 0;
  let lastProblem = 'it did not answer a moment ago';
  let ahead = 0;
  let given: Promise<string> | undefined;
  return { url, ask, now: () => clock() + ahead };

  async function ask(question: Question): Promise<Answer> {
    // Concurrent calls have separate time budgets, unless `together`.
    let mine = together ? waited : 0;
    const spend = (ms: number): void => {
      mine += Math.max(0, ms);
      if (together) waited = Math.max(waited, mine);
    };
    let bearer = token;
    for (let tries = 0; ; tries += 1) {
      const left = patienceMs - mine;
      if (left <= 0) throw unreachable(url, lastProblem);
      const began = performance.now();
      const outcome = await attempt(question, bearer, Math.min(left, attemptMs));
      const took = performance.now() - began;
      if ('answer' in outcome) {
        spend(took - (question.holdMs ?? 0));
        return outcome.answer;
      }
      spend(took);
      question.signal?.throwIfAborted();
      if ('refused' in outcome) {
        if (outcome.refused.code !== 'credential_required' || !credential || bearer !== token)
          throw outcome.refused;
        given ??= credential();
        bearer = await given;
        continue;
      }
      lastProblem = outcome.problem;
      const pause = Math.max(outcome.afterMs ?? 0, pauseFor(tries));
      if (pause >= patienceMs - mine) throw unreachable(url, lastProblem);
      await new Promise((resolve) => setTimeout(resolve, pause));
      spend(pause);
    }
  }

  async function attempt(question: Question, bearer: string, ms: number): Promise<Outcome> {
    const { method = 'GET', path, query = {}, body, etag, holdMs = 0, prefer, signal } = question;
    const timeout = AbortSignal.timeout(Math.ceil(ms + holdMs));
    const sent = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
    );
    const began = clock();
    try {
      const response = await fetch(`${url}${path}${sent.length === 0 ? '' : `?${sent.join('&')}`}`, {
        method,
        headers: {
          authorization: `Bearer ${bearer}`,
          [apiHeader]: String(apiVersion),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(etag === undefined ? {} : { 'if-none-match': etag }),
          ...(prefer === undefined ? {} : { [preferHeader]: prefer }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        // No token for others.
        redirect: 'manual',
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      });
      const text = await response.text();
      setClock(response.headers.get('date'), (began + clock()) / 2);
      return answerOf(response, text, { url, plain: question.plain ?? false });
    } catch (error) {
      return certificateOf(error, url) ?? { problem: wordsOf(error, ms) };
    }
  }

  function setClock(date: string | null, here: number): void {
    const there = date === null ? Number.NaN : Date.parse(date);
    if (Number.isNaN(there)) return;
    const difference = there + 500 - here;
    ahead = Math.abs(difference) <= clockSlackMs ? 0 : difference;
  }
}

const pauseFor = (tries: number): number =>
  Math.min(longestPauseMs, firstPauseMs * 2 ** tries) * (0.5 + Math.random() / 2);

const unreachable = (url: string, problem: string): StepfastError =>
  new StepfastError(
    'server_unreachable',
    `The server ${url} cannot be reached: ${problem}. Nothing is lost: send the same call again when it answers.`,
  );

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'its name is unknown',
  EAI_AGAIN: 'its name cannot be looked up now',
  EHOSTUNREACH: 'there is no way to it',
  ENETUNREACH: 'there is no network',
  ECONNRESET: 'the connection was cut',
  UND_ERR_SOCKET: 'the connection was cut',
};

function wordsOf(error: unknown, ms: number): string {
  if (error instanceof Error && error.name === 'TimeoutError')
    return `it did not answer within ${ms < 1000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 1000)} s`}`;
  const code = codeOf(error);
  return words[code] ?? (code === '' ? String(error) : code);
}

/** A retry would not help. */
function certificateOf(error: unknown, url: string): Outcome | undefined {
  const code = codeOf(error);
  if (!/CERT|SIGNATURE|_TLS_/.test(code)) return undefined;
  const message = `The certificate of ${url} is not accepted (${code}): fix it, or add its authority to NODE_EXTRA_CA_CERTS.`;
  return { refused: new StepfastError('server_refused', message, { cause: error }) };
}

/** `fetch` puts the code in its cause; of several addresses, the first. */
function codeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const [first] = cause instanceof AggregateError ? cause.errors : [cause];
  return first instanceof Error && 'code' in first ? String(first.code) : '';
}
