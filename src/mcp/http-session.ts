import { createHash, randomBytes } from 'node:crypto';
import { slug } from '../machine/index.ts';

/** Whoever a request is from, as the server has proven it. */
export interface McpCaller {
  /** Of the token, or of whom a JWT is about; never a secret. */
  id: string;
  project: { id: number; name: string };
  kind: 'agent' | 'person';
  name: string;
  scopes: readonly string[];
}

export interface HttpSession {
  /** How the machine knows the caller. */
  name: string;
  /** The agent program, where the id that we gave tells. */
  host?: string;
}

export const ownHeader = 'stepfast-session';
export const protocolHeader = 'mcp-session-id';

/** Keys of `_meta` under which clients name their conversation. */
const metaKeys = ['stepfast/session', 'openai/session'] as const;
const mostLength = 256;

/**
 * Who calls, among all that use one token: by the conversation that the client names, else by the session id that its
 * handshake was given, else all callers of the token are one. Nothing of it is kept: any server gives the same name.
 */
export function sessionOf(caller: McpCaller, headers: Headers, meta: Record<string, unknown>): HttpSession {
  const named = [headers.get(ownHeader), ...metaKeys.map((key) => meta[key]), headers.get(protocolHeader)];
  const index = named.findIndex(isId);
  const parts = [caller.project.id, caller.id, ...(index < 0 ? [] : [index, named[index]])];
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 16);
  const [, host] = issued.exec(headers.get(protocolHeader) ?? '') ?? [];
  return { name: `${slug(caller.name).slice(0, 32)}-${digest}`, ...(host === undefined ? {} : { host }) };
}

const issued = /^([a-z0-9-]{1,32})\.[\w-]{22}$/;

/** For a client of the older era, which sends it back with every request; it names the client and means nothing else. */
export const newSessionId = (client: unknown): string =>
  `${slug(typeof client === 'string' ? client : 'client').slice(0, 32)}.${randomBytes(16).toString('base64url')}`;

const isId = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= mostLength;
