import type { Backend } from './backend.ts';
import { createJwtVerifier, type Issuer, looksLikeJwt } from './jwt.ts';
import type { Limits } from './limits.ts';
import type { Principal } from './principal.ts';
import { problem } from './problem.ts';
import { createRate } from './rate.ts';
import { hashToken, isToken } from './token.ts';

export interface AuthOptions {
  /** The address of this server, as clients know it. */
  publicUrl: URL;
  issuer?: Issuer;
}

/** Tells who a request is from, by its bearer token. Throws a problem. */
export interface Auth {
  authenticate(request: Request, address: string): Promise<Principal>;
  close(): void;
}

interface Known {
  principal: Principal;
  expiresAt: number;
}

/** As long a revoked token may still be taken where nobody woke us. */
const maxAgeMs = 2000;
const mostKnown = 10_000;

export function createAuth(
  { publicUrl, issuer }: AuthOptions,
  { backend, limits, clock }: { backend: Backend; limits: Limits; clock(): number },
): Auth {
  const known = new Map<string, { until: number; answer: Promise<Known | undefined> }>();
  const jwt = issuer && createJwtVerifier(issuer, { backend, clock });
  const { failuresPerMinute } = limits;
  const failures = createRate({ perSecond: failuresPerMinute / 60, burst: failuresPerMinute, clock });
  /** Tokens that were good before: what others behind the same address send does not keep them out. */
  const proven = new Set<string>();
  /** Guesses that are looked up now, by address. */
  const guesses = new Map<string, Set<Promise<void>>>();
  const close = backend.onWake((wake) => {
    if (wake === 'tokens') known.clear();
  });
  return { authenticate, close };

  async function authenticate(request: Request, address: string): Promise<Principal> {
    const sent = request.headers.get('authorization') ?? '';
    const [, token] = /^Bearer +([\x21-\x7e]{1,8192})$/i.exec(sent) ?? [];
    if (token === undefined) throw unauthorized(request, 'No bearer token was sent.');
    const hash = hashToken(token);
    const fresh = known.get(hash);
    const cached = fresh !== undefined && fresh.until > clock();
    // Who guesses is slowed down; a token that has just been good is not.
    const guessed = !cached && !proven.has(hash);
    const look = () => lookUp(token, hash);
    const found = await (cached ? fresh.answer : guessed ? guess(address, look) : look());
    if (isGood(found)) {
      if (proven.size >= mostKnown) proven.clear();
      proven.add(hash);
      return found.principal;
    }
    proven.delete(hash);
    if (!guessed && !failures.take(address)) throw tooMany();
    throw unauthorized(request, 'The token is unknown, revoked or expired.', 'invalid_token');
  }

  function isGood(found: Known | undefined): found is Known {
    return found !== undefined && found.expiresAt > clock();
  }

  /** Takes one from the address before it looks, or many at once would all be looked up; only a bad token costs it. */
  async function guess(address: string, look: () => Promise<Known | undefined>): Promise<Known | undefined> {
    while (!failures.take(address)) {
      // Many with good tokens may come at once: each gives back what it took.
      const [other] = guesses.get(address) ?? [];
      if (!other) throw tooMany();
      await other;
    }
    const others = guesses.get(address) ?? new Set();
    const { promise, resolve } = Promise.withResolvers<void>();
    guesses.set(address, others.add(promise));
    let bad = false;
    try {
      const found = await look();
      bad = !isGood(found);
      return found;
    } finally {
      if (!bad) failures.giveBack(address);
      others.delete(promise);
      if (others.size === 0) guesses.delete(address);
      resolve();
    }
  }

  function lookUp(token: string, hash: string): Promise<Known | undefined> {
    const answer = find(token, hash);
    const [oldest] = known.size < mostKnown ? [] : known.keys();
    if (oldest !== undefined) known.delete(oldest);
    const entry = { until: clock() + maxAgeMs, answer };
    known.set(hash, entry);
    const forget = (): void => {
      if (known.get(hash) === entry) known.delete(hash);
    };
    // Only what is good is remembered: a token may be made a moment after it was tried.
    answer.then((found) => found ?? forget(), forget);
    return answer;
  }

  async function find(token: string, hash: string): Promise<Known | undefined> {
    if (isToken(token)) {
      const record = await backend.findToken(hash);
      if (!record) return undefined;
      const { id, project, kind, name } = record;
      // An agent's token never decides, whoever wrote its scopes.
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
  problem('too_many_requests', 'Too many attempts with bad tokens came from this address.', {
    next: 'wait a minute, then send a good one',
    headers: { 'Retry-After': '60' },
  });
