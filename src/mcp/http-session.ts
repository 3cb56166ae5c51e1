import { createHash, randomBytes } from 'node:crypto';
import { type PrincipalKind, slug } from '../machine/index.ts';

/** The authenticated client of a request. */
export interface McpCaller {
  /** The id of the token or the subject of a JWT; never a secret. */
  id: string;
  project: { id: number; name: string };
  kind: PrincipalKind;
  name: string;
  issued?: { issuer: string; subject: string } | undefined;
  parent?: string | undefined;
  scopes: readonly string[];
}

export interface HttpSession {
  /** The caller's session id in a run. */
  name: string;
  /** The agent program, if the session id contains it. */
  host?: string;
}

export const ownHeader = 'stepfast-session';
export const protocolHeader = 'mcp-session-id';

/** Keys of `_meta` in which clients send their conversation's id. */
const metaKeys = ['stepfast/session', 'openai/session'] as const;
const mostLength = 256;

/**
 * Tells the callers of one principal apart: by the conversation that the client names, else by the session id from its
 * handshake; otherwise all of them are one session. Stateless: every server computes the same id.
 */
export function sessionOf(caller: McpCaller, headers: Headers, meta: Record<string, unknown>): HttpSession {
  const named = [headers.get(ownHeader), ...metaKeys.map((key) => meta[key]), headers.get(protocolHeader)];
  const index = named.findIndex(isId);
  // A rotated token keeps its sessions.
  const who = caller.issued ? caller.id : caller.name;
  const parts = [caller.project.id, who, ...(index < 0 ? [] : [index, named[index]])];
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 16);
  const [, host] = issued.exec(headers.get(protocolHeader) ?? '') ?? [];
  return { name: `${slug(caller.name).slice(0, 32)}-${digest}`, ...(host === undefined ? {} : { host }) };
}

const issued = /^([a-z0-9-]{1,32})\.[\w-]{22}$/;

/** For a client of the older era, which sends it with every request; it only identifies the client. */
export const newSessionId = (client: unknown): string =>
  `${slug(typeof client === 'string' ? client : 'client').slice(0, 32)}.${randomBytes(16).toString('base64url')}`;

const isId = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= mostLength;
