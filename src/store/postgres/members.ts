import { asOwnerOf } from './owner-connection.ts';
import { tell } from './tokens.ts';

export interface Member {
  name: string;
  /** When the passphrase was chosen, in milliseconds since the epoch. */
  since: number;
}

/** The people who have a passphrase, for operators. */
export interface Members {
  list(project: number): Promise<Member[]>;
  /** Forgets the passphrase and revokes every token of that name. Whether there was one of either. */
  remove(project: number, name: string): Promise<boolean>;
}

/** Requires the owner of the database. */
export function createMembers(url: string): Members {
  return {
    list: (project) =>
      asOwnerOf(url, project, async (client) => {
        const { rows } = await client.query<{ name: string; set_at: Date }>(
          'select name, set_at from stepfast.people where project = $1 order by name',
          [project],
        );
        return rows.map(({ name, set_at }) => ({ name, since: set_at.getTime() }));
      }),

    remove: (project, name) =>
      asOwnerOf(url, project, async (client) => {
        const who = [project, name.replaceAll('\0', '')];
        const people = await client.query(
          'delete from stepfast.people where project = $1 and name = $2',
          who,
        );
        const tokens = await client.query(
          'update stepfast.tokens set revoked_at = now() where project = $1 and name = $2 and revoked_at is null',
          who,
        );
        const ended = tokens.rowCount ?? 0;
        if (people.rowCount === 0 && ended === 0) return false;
        await tell(client, project, { action: 'person.removed', subject: name, details: { tokens: ended } });
        return true;
      }),
  };
}
