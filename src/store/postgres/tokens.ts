import { hashToken, newToken } from '../../token-format.ts';
import { asOwnerOf } from './owner-connection.ts';
import { channel } from './wake-channel.ts';

export interface NewToken {
  kind: 'agent' | 'person';
  name: string;
  scopes: readonly string[];
  /** Milliseconds since the epoch. */
  expiresAt?: number | undefined;
}

export interface TokenInfo extends NewToken {
  id: string;
  createdAt: number;
  revokedAt?: number | undefined;
}

export interface Tokens {
  /** Returns the token once: only its SHA-256 is stored. */
  create(project: number, token: NewToken): Promise<{ id: string; token: string }>;
  list(project: number): Promise<TokenInfo[]>;
  /** Whether an active token was revoked. */
  revoke(project: number, id: string): Promise<boolean>;
}

/** Requires the owner of the database. */
export function createTokens(url: string): Tokens {
  return {
    async create(project, { kind, name, scopes, expiresAt }) {
      const { id, token } = newToken();
      await asOwnerOf(url, project, async (client) => {
        await client.query(
          `insert into stepfast.tokens (id, project, hash, kind, name, scopes, expires_at)
            values ($1, $2, $3, $4, $5, $6, to_timestamp($7::float8 / 1000))`,
          [id, project, hashToken(token), kind, name.replaceAll('\0', ''), [...scopes], expiresAt ?? null],
        );
        await client.query('select pg_notify($1, $2)', [channel, 'tokens']);
      });
      return { id, token };
    },

    list: (project) =>
      asOwnerOf(url, project, async (client) => {
        const { rows } = await client.query<{
          id: string;
          kind: 'agent' | 'person';
          name: string;
          scopes: string[];
          created_at: Date;
          expires_at: Date | null;
          revoked_at: Date | null;
        }>(
          `select id, kind, name, scopes, created_at, expires_at, revoked_at from stepfast.tokens
            where project = $1 order by created_at, id`,
          [project],
        );
        return rows.map(({ id, kind, name, scopes, created_at, expires_at, revoked_at }) => ({
          id,
          kind,
          name,
          scopes,
          createdAt: created_at.getTime(),
          expiresAt: expires_at?.getTime(),
          revokedAt: revoked_at?.getTime(),
        }));
      }),

    revoke: (project, id) =>
      asOwnerOf(url, project, async (client) => {
        const { rowCount } = await client.query(
          `update stepfast.tokens set revoked_at = now()
            where project = $1 and id = $2 and revoked_at is null`,
          [project, id.replaceAll('\0', '')],
        );
        await client.query('select pg_notify($1, $2)', [channel, 'tokens']);
        return (rowCount ?? 0) > 0;
      }),
  };
}
