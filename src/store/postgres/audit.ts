import type pg from 'pg';
import type { PrincipalKind } from '../../schema/index.ts';
import { asOwner } from './owner-connection.ts';

/** Who did what, without contents. */
export interface AuditAction {
  /** Such as `token.created`, `decision.review`, `workflow.published`. */
  action: string;
  /** The id of what it was done to. */
  subject: string;
  details?: Readonly<Record<string, string | number | boolean>>;
}

/** Over HTTP the token says who; an operator works on the database itself. */
export interface AuditActor {
  kind: 'operator' | PrincipalKind;
  name: string;
  token?: string;
  address?: string;
  /** The id of the request, as in the access log. */
  request?: string;
}

/** The shape of an entry is stable. */
export interface AuditEntry extends Required<AuditAction> {
  at: string;
  /** Absent for what concerns the whole server. */
  project?: string;
  by: AuditActor;
}

/** Entries of the whole server, such as the removal of a project. */
export const wholeServer = 0;

/** On a connection of the owner, which must see the project. */
export async function recordAsOwner(
  client: pg.Client,
  project: number,
  { action, subject, details = {} }: AuditAction,
): Promise<void> {
  await client.query(
    `select stepfast.audit_1($1, $2, $3, session_user::text, 'operator', null, null, null, $4)`,
    [project, action, subject, JSON.stringify(details)],
  );
}

interface Row {
  at: Date;
  action: string;
  subject: string;
  actor: string;
  kind: AuditActor['kind'];
  token: string | null;
  address: string | null;
  request: string | null;
  details: string;
}

/** The newest entries, oldest first: of one project, or of all and of the server itself. Requires the owner. */
export async function readAudit(
  url: string,
  { project, limit }: { project?: { id: number; name: string } | undefined; limit: number },
): Promise<AuditEntry[]> {
  return asOwner(url, async (client) => {
    const all = await client.query<{ id: number; name: string }>('select id, name from stepfast.projects');
    const wanted = project ? [project] : [{ id: wholeServer, name: undefined }, ...all.rows];
    const found: AuditEntry[] = [];
    for (const { id, name } of wanted) {
      // Row level security applies to the owner too.
      await client.query(`select set_config('stepfast.project', $1, false)`, [String(id)]);
      const { rows } = await client.query<Row>(
        `select at, action, subject, actor, kind, token, address, request, details from stepfast.audit
          where project = $1 order by id desc limit $2`,
        [id, limit],
      );
      found.push(...rows.map((row) => entryOf(row, name)));
    }
    return found.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)).slice(-limit);
  });
}

function entryOf(row: Row, project: string | undefined): AuditEntry {
  const { at, action, subject, actor: name, kind, token, address, request, details } = row;
  return {
    at: at.toISOString(),
    ...(project === undefined ? {} : { project }),
    action,
    subject,
    by: {
      kind,
      name,
      ...(token === null ? {} : { token }),
      ...(address === null ? {} : { address }),
      ...(request === null ? {} : { request }),
    },
    // Written by `audit_1` only.
    details: JSON.parse(details) as AuditEntry['details'],
  };
}
