import { hashToken, tokenId } from '../token-format.ts';
import type { Backend } from './backend.ts';
import { cookieToken } from './cookies.ts';
import { createGate } from './gate.ts';
import { createJwtVerifier, type Issuer, looksLikeJwt } from './jwt.ts';
import type { Limits } from './limits.ts';
import type { Principal } from './principal.ts';
import { problem } from './problem.ts';
import { createRateLimit } from './rate-limit.ts';

export interface AuthOptions {
  /** The public URL of this server. */
  publicUrl: URL;
  issuer?: Issuer | undefined;
}

/** Resolves the token of a request. Throws a problem. */
export interface Auth {
  /** The bearer token, or that of the cookie of a browser. */
  authenticate(request: Request): Promise<Principal>;
  /** A token that a person typed. */
  signIn(request: Request, token: string): Promise<Principal>;
  close(): void;
}

interface Verified {
  principal: Principal;
  expiresAt: number;
}

/** How long a revoked token may still be accepted if the wake-up was missed. */
const maxAgeMs = 2000;
const maxCached = 10_000;
/** How exact the time of last use is. */
const useEveryMs = 60_000;
/** Concurrent lookups of tokens that have not verified before: the others get the rest of the database connections. */
const maxGuesses = 4;

export function createAuth(
  { publicUrl, issuer }: AuthOptions,
  { backend, limits, clock }: { backend: Backend; limits: Limits; clock(): number },
): Auth {
  const cache = new Map<string, { until: number; answer: Promise<Verified | undefined> }>();
  const jwt = issuer && createJwtVerifier(issuer, { backend, clock });
  const { failuresPerMinute } = limits;
  const failures = createRateLimit({ perSecond: failuresPerMinute / 60, burst: failuresPerMinute, clock });
  /** Tokens that verified before: they do not wait behind those that others make up. */
  const proven = new Set<string>();
  const usedAt = new Map<string, number>();
  const guess = createGate(maxGuesses);
  const close = backend.onWake((wake) => {
    if (wake === 'tokens') cache.clear();
  });
  return { authenticate, signIn: verify, close };

  async function authenticate(request: Request): Promise<Principal> {
    const sent = request.headers.get('authorization') ?? '';
    const [, token] = /^Bearer +([\x21-\x7e]{1,8192})$/i.exec(sent) ?? [];
    const given = token ?? cookieToken(request);
    if (given === undefined) throw unauthorized(request, 'Missing bearer token.');
    return await verify(request, given);
  }

  /** A failure counts against the token that was sent, and against no other: it never keeps a valid token out. */
  async function verify(request: Request, token: string): Promise<Principal> {
    const id = tokenId(token);
    const known = id !== undefined || (jwt !== undefined && looksLikeJwt(token));
    if (!known) throw invalid(request);
    const hash = hashToken(token);
    const fresh = cache.get(hash);
    const look = () => lookUp(token, hash);
    const found = await (fresh !== undefined && fresh.until > clock()
      ? fresh.answer
      : proven.has(hash)
        ? look()
        : guess(look));
    if (found !== undefined && found.expiresAt > clock()) {
      if (proven.size >= maxCached) proven.clear();
      proven.add(hash);
      if (id !== undefined) noteUse(found.principal);
      return found.principal;
    }
    proven.delete(hash);
    throw failures.take(id ?? hash) ? invalid(request) : tooMany();
  }

  /** Nobody waits for it. A failure is not reported: the next minute tries again. */
  function noteUse({ id, project }: Principal): void {
    const now = clock();
    if (now - (usedAt.get(id) ?? Number.NEGATIVE_INFINITY) < useEveryMs) return;
    if (usedAt.size >= maxCached) usedAt.clear();
    usedAt.set(id, now);
    backend.useToken(project.id, id).catch(() => undefined);
  }

  function lookUp(token: string, hash: string): Promise<Verified | undefined> {
    const answer = find(token, hash);
    const [oldest] = cache.size < maxCached ? [] : cache.keys();
    if (oldest !== undefined) cache.delete(oldest);
    const entry = { until: clock() + maxAgeMs, answer };
    cache.set(hash, entry);
    const forget = (): void => {
      if (cache.get(hash) === entry) cache.delete(hash);
    };
    // Failures are not cached: the token may be created a moment later.
    answer.then((found) => found ?? forget(), forget);
    return answer;
  }

  async function find(token: string, hash: string): Promise<Verified | undefined> {
    if (tokenId(token) !== undefined) {
      const record = await backend.findToken(hash);
      if (!record) return undefined;
      const { id, project, kind, name, agents, parent } = record;
      // Only a person's credential gets `decide`, whatever its stored scopes say.
      const scopes = record.scopes.filter((scope) => scope !== 'decide' || kind === 'person');
      return {
        principal: { id, project, kind, name, scopes, agents, parent },
        expiresAt: record.expiresAt ?? Number.POSITIVE_INFINITY,
      };
    }
    return await jwt?.verify(token);
  }

  function invalid(request: Request) {
    return unauthorized(request, 'The token is invalid, revoked or expired.', 'invalid_token');
  }

  function unauthorized(request: Request, message: string, error?: string) {
    const mcp = new URL(request.url).pathname === '/mcp' ? '/mcp' : '';
    const metadata = `resource_metadata="${publicUrl.origin}/.well-known/oauth-protected-resource${mcp}"`;
    const parts = [...(error === undefined ? [] : [`error="${error}"`]), metadata];
    return problem('unauthorized', message, {
      next: 'log in again: stepfast login',
      headers: { 'WWW-Authenticate': `Bearer ${parts.join(', ')}` },
    });
  }
}

const tooMany = () =>
  problem('too_many_requests', 'This token was refused too often.', {
    next: 'wait a minute, then use a valid token',
    headers: { 'Retry-After': '60' },
  });
