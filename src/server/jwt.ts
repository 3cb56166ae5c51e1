import {
  createLocalJWKSet,
  createRemoteJWKSet,
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  jwtVerify,
} from 'jose';
import { scopes as allScopes, principalKinds, type Scope } from '../schema/index.ts';
import type { Backend } from './backend.ts';
import type { Principal } from './principal.ts';
import { problem } from './problem.ts';

/** An OAuth 2.1 issuer whose access tokens are accepted. */
export interface Issuer {
  issuer: string;
  /** Accepted `aud` values: the URLs of this server. */
  audience: readonly string[];
  /** The JWKS URL of the issuer, or the keys themselves. */
  keys: URL | JSONWebKeySet;
  /** Claim names. The `scope` claim may be a space-separated string or a list. */
  claims?: { project?: string; kind?: string; scope?: string };
  /** With this client, and no other, people get the token that they decide with; without one they have passphrases. */
  client?: { id: string; scope: string };
}

/** Asymmetric only: with HMAC, a client could sign tokens with the public key. */
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const toleranceSeconds = 5;
const maxLength = 8192;
const maxSubject = 100;
const maxDecidingSeconds = 15 * 60;

export const looksLikeJwt = (token: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]*$/.test(token);

export interface JwtVerifier {
  /** Returns undefined for an invalid token. Throws `unavailable` if the issuer's keys cannot be fetched. */
  verify(token: string): Promise<{ principal: Principal; expiresAt: number } | undefined>;
}

export function createJwtVerifier(
  { issuer, audience, keys, claims = {}, client }: Issuer,
  { backend, clock }: { backend: Pick<Backend, 'projectNamed'>; clock(): number },
): JwtVerifier {
  const names = { project: 'stepfast_project', kind: 'stepfast_kind', scope: 'scope', ...claims };
  const keySet = keys instanceof URL ? createRemoteJWKSet(keys) : createLocalJWKSet(keys);
  return {
    async verify(token) {
      const payload = token.length > maxLength ? undefined : await verified(token);
      // jose checked only that `sub` is present.
      const sub: unknown = payload?.sub;
      if (!payload || typeof sub !== 'string' || sub === '' || payload.exp === undefined) return undefined;
      const projectName = payload[names.project];
      if (typeof projectName !== 'string' || projectName === '') return undefined;
      const project = await backend.projectNamed(projectName);
      if (!project) return undefined;
      const kind = principalKinds.find((each) => each === payload[names.kind]) ?? 'agent';
      const decides = kind === 'person' && isShort(payload) && isFor(client, payload);
      const scopes = parseScopes(payload[names.scope]).filter(
        (scope) =>
          (scope !== 'decide' || decides) && (scope !== 'admin' || kind !== 'person') && scope !== 'join',
      );
      const principal: Principal = {
        id: `jwt:${sub.slice(0, maxSubject)}`,
        project,
        kind,
        name: displayName(payload, sub),
        issued: { issuer, subject: sub.slice(0, maxSubject) },
        scopes,
      };
      return { principal, expiresAt: payload.exp * 1000 };
    },
  };

  async function verified(token: string): Promise<JWTPayload | undefined> {
    try {
      const { payload } = await jwtVerify(token, keySet, {
        issuer,
        audience: [...audience],
        algorithms,
        clockTolerance: toleranceSeconds,
        currentDate: new Date(clock()),
        requiredClaims: ['exp', 'sub'],
      });
      return payload;
    } catch (error) {
      // JOSE errors describe the token, except those about fetching keys.
      if (error instanceof errors.JOSEError && !isKeyFetchError(error)) return undefined;
      throw problem('unavailable', `Cannot fetch the keys of ${issuer}.`, { next: 'retry' });
    }
  }
}

/** A token that decides lives for minutes: longer ones lie on disks. */
const isShort = ({ iat, exp }: JWTPayload): boolean =>
  iat !== undefined && exp !== undefined && exp - iat <= maxDecidingSeconds;

/** Other clients keep their tokens on disks, as those of agents do: only the client of the device flow decides. */
const isFor = (client: Issuer['client'], { azp, client_id }: JWTPayload): boolean =>
  client !== undefined && (azp ?? client_id) === client.id;

const isKeyFetchError = ({ code }: errors.JOSEError): boolean =>
  code === errors.JWKSTimeout.code || code === errors.JWKSInvalid.code || code === 'ERR_JOSE_GENERIC';

function parseScopes(claim: unknown): Scope[] {
  const words: unknown[] = typeof claim === 'string' ? claim.split(' ') : Array.isArray(claim) ? claim : [];
  return allScopes.filter((scope) => words.includes(scope) || words.includes(`stepfast:${scope}`));
}

/** Display names are not verified, so the subject is appended. */
function displayName({ name, preferred_username }: JWTPayload, sub: string): string {
  const known = [name, preferred_username].find((each) => typeof each === 'string' && each !== '');
  const subject = sub.slice(0, maxSubject);
  return known === undefined || known === sub ? subject : `${String(known).slice(0, 100)} (${subject})`;
}
