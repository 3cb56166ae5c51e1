import { commandName } from '../../command-name.ts';
import { StepfastError } from '../../errors.ts';
import { apiHeader, apiVersion, engineStatus, versionHeader } from '../../schema/index.ts';

export interface Answer {
  /** 304: not modified. */
  status: number;
  body: unknown;
  etag?: string;
}

/** The result of one request: an answer, a refusal, or a problem that may be temporary. */
export type Outcome = { answer: Answer } | { refused: StepfastError } | { problem: string; afterMs?: number };

const passing: readonly number[] = [429, 502, 503, 504];

/** About what a person has to do: their messages need nothing added. */
const personCodes: readonly string[] = [
  'credential_required',
  'wrong_passphrase',
  'too_many_tries',
  'not_published',
];

export function answerOf(
  response: Pick<Response, 'status' | 'headers'>,
  text: string,
  { url, plain }: { url: string; plain: boolean },
): Outcome {
  const { status, headers } = response;
  const etag = headers.get('etag');
  const known = etag === null ? {} : { etag };
  if (status === 304 || status === 204) return { answer: { status, body: undefined, ...known } };
  if (status >= 200 && status < 300 && plain) return { answer: { status, body: text, ...known } };
  const body = parse(text);
  if (status >= 200 && status < 300 && body !== undefined) return { answer: { status, body, ...known } };
  const { code, message, next } = errorIn(body);
  if (passing.includes(status) && code !== 'too_many_tries') {
    const afterMs = retryAfter(headers.get('retry-after'));
    const problem = `it is not ready (${status}${message === undefined ? '' : `: ${message}`})`;
    return { problem, ...(afterMs === undefined ? {} : { afterMs }) };
  }
  if (code !== undefined && message !== undefined && Object.hasOwn(engineStatus, code))
    return { refused: new StepfastError(code, message, { data: { home: 'server' } }) };
  const then = next === undefined ? '' : ` Next: ${next}.`;
  if (code !== undefined && message !== undefined && personCodes.includes(code))
    return { refused: new StepfastError(code, `${message}${then}`, { data: { status } }) };
  const said = message === undefined ? '' : `: ${message}`;
  const whole =
    status === 401
      ? `The server ${url} does not accept this token: it is invalid, used, revoked or expired.${ageOf(headers)} Next: ask the operator for a new token or invitation, then run: ${commandName()} login ${url}`
      : `${whyOf()}${said.replace(/\.$/, '')}.${ageOf(headers)}${then}`;
  const kind = status >= 500 ? 'server_failed' : 'server_refused';
  return { refused: new StepfastError(kind, whole, { data: { status } }) };

  function whyOf(): string {
    if (status >= 300 && status < 400)
      return `${url} sends elsewhere (${headers.get('location') ?? status}), and a token goes nowhere else; log in there: ${commandName()} login URL`;
    if (status === 403) return `The server ${url} does not allow this to your token`;
    if (code === undefined && (status < 300 || status === 404))
      return `${url} does not answer as a Stepfast server does (${status}); see whether the address is right`;
    if (status >= 500)
      return `The server ${url} failed (${status}), so it is unknown whether it was done; its log says why`;
    return `The server ${url} did not take the call (${status})`;
  }
}

/** A mismatch is often caused by different versions. */
function ageOf(headers: Pick<Headers, 'get'>): string {
  const theirs = Number(headers.get(apiHeader) ?? Number.NaN);
  if (Number.isNaN(theirs) || theirs === apiVersion) return '';
  const version = headers.get(versionHeader);
  const which = version === null ? '' : ` (${version})`;
  return theirs > apiVersion
    ? ` The server${which} is newer than this Stepfast: update it.`
    : ` The server${which} is older than this Stepfast: update the server.`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function errorIn(body: unknown): { code?: string; message?: string; next?: string } {
  if (typeof body !== 'object' || body === null) return {};
  // Each field is checked below.
  const { code, message, next } = body as Record<string, unknown>;
  return {
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof message === 'string' ? { message: message.slice(0, 1000) } : {}),
    ...(typeof next === 'string' ? { next: next.slice(0, 500) } : {}),
  };
}

/** Seconds, or a date. */
function retryAfter(value: string | null): number | undefined {
  if (value === null) return undefined;
  const seconds = Number(value);
  const ms = Number.isNaN(seconds) ? Date.parse(value) - Date.now() : seconds * 1000;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
