import type { Backend } from './backend.ts';
import { cookieToken } from './browser-session.ts';
import { createJwtVerifier, type Issuer, looksLikeJwt } from './jwt.ts';
import type { Limits } from './limits.ts';
import type { Principal } from './principal.ts';
import { problem } from './problem.ts';
import { createRateLimit } from './rate-limit.ts';
import { hashToken, isToken } from './token.ts';

export interface AuthOptions {
  /** The public URL of this server. */
  publicUrl: URL;
  issuer?: Issuer | undefined;
}

/** Resolves the token of a request. Throws a problem. */
export interface Auth {
  /** The bearer token, or that of the cookie of a browser. */
  authenticate(request: Request, address: string): Promise<Principal>;
  /** A token that a person typed. */
  signIn(request: Request, token: string, address: string): Promise<Principal>;
  close(): void;
}

interface Verified {
  principal: Principal;
  expiresAt: number;
}

/** How long a revoked token may still be accepted if the wake-up was missed. */
const maxAgeMs = 2000;
const maxCached = 10_000;

export function createAuth(
  { publicUrl, issuer }: AuthOptions,
  { backend, limits, clock }: { backend: Backend; limits: Limits; clock(): number },
): Auth {
  const cache = new Map<string, { until: number; answer: Promise<Verified | undefined> }>();
  const jwt = issuer && createJwtVerifier(issuer, { backend, clock });
  const { failuresPerMinute } = limits;
  const failures = createRateLimit({ perSecond: failuresPerMinute / 60, burst: failuresPerMinute, clock });
  /** Tokens that verified before: invalid tokens from the same address do not block them. */
  const proven = new Set<string>();
  /** Lookups of unknown tokens in progress, by address. */
  const guesses = new Map<string, Set<Promise<void>>>();
  const close = backend.onWake((wake) => {
    if (wake === 'tokens') cache.clear();
  });
  return { authenticate, signIn: verify, close };

  async function authenticate(request: Request, address: string): Promise<Principal> {
    const sent = request.headers.get('authorization') ?? '';
    const [, token] = /^Bearer +([\x21-\x7e]{1,8192})$/i.exec(sent) ?? [];
    const given = token ?? cookieToken(request);
    if (given === undefined) throw unauthorized(request, 'Missing bearer token.');
    return await verify(request, given, address);
  }

  async function verify(request: Request, token: string, address: string): Promise<Principal> {
    const hash = hashToken(token);
    const fresh = cache.get(hash);
    const cached = fresh !== undefined && fresh.until > clock();
    // Only unknown tokens count against the address.
    const guessed = !cached && !proven.has(hash);
    const look = () => lookUp(token, hash);
    const found = await (cached ? fresh.answer : guessed ? guess(address, look) : look());
    if (isValid(found)) {
      if (proven.size >= maxCached) proven.clear();
      proven.add(hash);
      return found.principal;
    }
    proven.delete(hash);
    if (!guessed && !failures.take(address)) throw tooMany();
    throw unauthorized(request, 'The token is invalid, revoked or expired.', 'invalid_token');
  }

  function isValid(found: Verified | undefined): found is Verified {
    return found !== undefined && found.expiresAt > clock();
  }

  /** Charges the address before the lookup, so that parallel guesses are limited too; a valid token gets the charge back. */
  async function guess(
    address: string,
    look: () => Promise<Verified | undefined>,
  ): Promise<Verified | undefined> {
    while (!failures.take(address)) {
      // Lookups in progress may return their charge.
      const [other] = guesses.get(address) ?? [];
      if (!other) throw tooMany();
      await other;
    }
    const others = guesses.get(address) ?? new Set();
    const { promise, resolve } = Promise.withResolvers<void>();
    guesses.set(address, others.add(promise));
    let invalid = false;
    try {
      const found = await look();
      invalid = !isValid(found);
      return found;
    } finally {
      if (!invalid) failures.refund(address);
      others.delete(promise);
      if (others.size === 0) guesses.delete(address);
      resolve();
    }
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
    if (isToken(token)) {
      const record = await backend.findToken(hash);
      if (!record) return undefined;
      const { id, project, kind, name } = record;
      // An agent's token never gets `decide`, whatever its stored scopes say.
      const scopes = record.scopes.filter((scope) => scope !== 'decide' || kind === 'person');
      return {
        principal: { id, project, kind, name, scopes },
        expiresAt: record.expiresAt ?? Number.POSITIVE_INFINITY,
      };
    }
    return jwt && looksLikeJwt(token) ? await jwt.verify(token) : undefined;
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
  problem('too_many_requests', 'Too many failed authentications from this address.', {
    next: 'wait a minute, then use a valid token',
    headers: { 'Retry-After': '60' },
  });
