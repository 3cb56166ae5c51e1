import type pg from 'pg';
import type { PrincipalKind } from '../../schema/index.ts';
import { hashToken, newToken } from '../../token-format.ts';
import { recordAsOwner } from './audit.ts';
import { asOwnerOf } from './owner-connection.ts';
import { channel } from './wake-channel.ts';

export interface NewToken {
  kind: PrincipalKind;
  name: string;
  scopes: readonly string[];
  /** Milliseconds since the epoch. */
  expiresAt?: number | undefined;
  /** How many agents use it. */
  agents?: number | undefined;
}

export interface TokenInfo extends NewToken {
  id: string;
  createdAt: number;
  revokedAt?: number | undefined;
  /** Exact to a minute. */
  usedAt?: number | undefined;
}

export interface Tokens {
  /** Returns the token once: only its SHA-256 is stored. */
  create(project: number, token: NewToken): Promise<{ id: string; token: string }>;
  /** Without the credentials of people, which live for minutes. */
  list(project: number): Promise<TokenInfo[]>;
  /** Whether an active token was revoked. */
  revoke(project: number, id: string): Promise<boolean>;
  /** A new token with the rights of an active one, which expires at `oldUntil` at the latest. */
  rotate(project: number, id: string, options: Rotation): Promise<Rotated | undefined>;
}

export interface Rotation {
  /** Milliseconds since the epoch. */
  oldUntil: number;
  /** By default the new token lives as long as the old one was made to; `never` has no end. */
  expiresAt?: number | 'never' | undefined;
}

export interface Rotated extends NewToken {
  id: string;
  token: string;
  /** When the old one ends. */
  oldUntil: number;
}

interface Row {
  id: string;
  kind: PrincipalKind;
  name: string;
  scopes: string[];
  created_at: Date;
  expires_at: Date | null;
  revoked_at: Date | null;
  used_at: Date | null;
  agents: number | null;
}

const columns = 'id, kind, name, scopes, created_at, expires_at, revoked_at, used_at, agents';

/** Requires the owner of the database. */
export function createTokens(url: string): Tokens {
  return {
    create: (project, token) =>
      asOwnerOf(url, project, async (client) => {
        const created = await insert(client, project, token);
        const { kind, name, scopes } = token;
        const details = { kind, name, scopes: scopes.join(' ') };
        await tell(client, project, { action: 'token.created', subject: created.id, details });
        return created;
      }),

    list: (project) =>
      asOwnerOf(url, project, async (client) => {
        const { rows } = await client.query<Row>(
          `select ${columns} from stepfast.tokens where project = $1 and not credential order by created_at, id`,
          [project],
        );
        return rows.map(
          ({ id, kind, name, scopes, created_at, expires_at, revoked_at, used_at, agents }) => ({
            id,
            kind,
            name,
            scopes,
            createdAt: created_at.getTime(),
            expiresAt: expires_at?.getTime(),
            revokedAt: revoked_at?.getTime(),
            usedAt: used_at?.getTime(),
            agents: agents ?? undefined,
          }),
        );
      }),

    revoke: (project, id) =>
      asOwnerOf(url, project, async (client) => {
        const { rowCount } = await client.query(
          `update stepfast.tokens set revoked_at = now()
            where project = $1 and id = $2 and revoked_at is null`,
          [project, id.replaceAll('\0', '')],
        );
        if (rowCount === 0) return false;
        await tell(client, project, { action: 'token.revoked', subject: id });
        return true;
      }),

    rotate: (project, id, { oldUntil, expiresAt }) =>
      asOwnerOf(url, project, async (client) => {
        const { rows } = await client.query<Row>(
          `select ${columns} from stepfast.tokens where project = $1 and id = $2 and revoked_at is null
            and parent is null and (expires_at is null or expires_at > now()) for update`,
          [project, id.replaceAll('\0', '')],
        );
        const [old] = rows;
        if (!old) return undefined;
        const { kind, name, scopes, agents } = old;
        const lifetime = old.expires_at && old.expires_at.getTime() - old.created_at.getTime();
        const until = expiresAt ?? (lifetime === null ? 'never' : Date.now() + lifetime);
        const token = {
          kind,
          name,
          scopes,
          expiresAt: until === 'never' ? undefined : until,
          agents: agents ?? undefined,
        };
        const created = await insert(client, project, token);
        const ends = Math.min(oldUntil, old.expires_at?.getTime() ?? oldUntil);
        await client.query(
          'update stepfast.tokens set expires_at = to_timestamp($3::float8 / 1000) where project = $1 and id = $2',
          [project, id, ends],
        );
        const details = { new: created.id, name };
        await tell(client, project, { action: 'token.rotated', subject: id, details });
        return { ...token, ...created, oldUntil: ends };
      }),
  };
}

async function insert(
  client: pg.Client,
  project: number,
  { kind, name, scopes, expiresAt, agents }: NewToken,
): Promise<{ id: string; token: string }> {
  const { id, token } = newToken();
  await client.query(
    `insert into stepfast.tokens (id, project, hash, kind, name, scopes, expires_at, agents)
      values ($1, $2, $3, $4, $5, $6, to_timestamp($7::float8 / 1000), $8)`,
    [
      id,
      project,
      hashToken(token),
      kind,
      name.replaceAll('\0', ''),
      [...scopes],
      expiresAt ?? null,
      agents ?? null,
    ],
  );
  return { id, token };
}

/** Records the change, and wakes the servers, which remember tokens for two seconds. */
export async function tell(
  client: pg.Client,
  project: number,
  action: Parameters<typeof recordAsOwner>[2],
): Promise<void> {
  await recordAsOwner(client, project, action);
  await client.query('select pg_notify($1, $2)', [channel, 'tokens']);
}
