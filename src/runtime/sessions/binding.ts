import { createHash } from 'node:crypto';

/** A session of a host, or a subagent in it. */
export interface SessionKey {
  host: string;
  session: string;
  agent?: string;
}

/** The run that a session works on, as last seen by its hooks. */
export interface Binding extends SessionKey {
  run: string;
  /** The handle of its last call. */
  at?: string;
  /** Portable. */
  cwd: string;
  /** The host's process id; valid only on the same machine, boot and process namespace. */
  pid?: number;
  boot?: string;
  boundAt: number;
  seenAt: number;
  endedAt?: number;
  /** Ended by a clear: the next session in its process inherits the binding. */
  cleared?: true;
  /** A program drives the session: its hooks decide nothing. */
  driven?: true;
  /** How full its context is, in percent, as last reported by the host. */
  pressure?: number;
  /** US dollars since the session was bound, and the host's total that was last seen. */
  cost?: { spent: number; total: number };
}

const version = 1;

/** A hash, so that no text of a host or an agent becomes part of a path. */
export const fileOf = ({ host, session, agent }: SessionKey): string =>
  `${createHash('sha256')
    .update(JSON.stringify([host, session, agent ?? null]))
    .digest('hex')
    .slice(0, 32)}.json`;

/** The session id in the machine; a subagent has its own. */
export const sessionName = ({ session, agent }: SessionKey): string =>
  agent === undefined ? session : `${session}/${agent}`;

export const sameKey = (one: SessionKey, other: SessionKey): boolean =>
  one.host === other.host && one.session === other.session && one.agent === other.agent;

export const encodeBinding = (binding: Binding): string => `${JSON.stringify({ v: version, ...binding })}\n`;

/** undefined for whatever is no binding of this version: it is made again with the next call. */
export function parseBinding(text: string): Binding | undefined {
  const read = parse(text);
  if (typeof read !== 'object' || read === null) return undefined;
  const {
    v,
    host,
    session,
    agent,
    run,
    at,
    cwd,
    pid,
    boot,
    boundAt,
    seenAt,
    endedAt,
    cleared,
    driven,
    pressure,
    cost,
  } =
    // Every field is checked below.
    read as Record<string, unknown>;
  if (v !== version || !isText(host) || !isText(session) || !isText(run) || !isText(cwd)) return undefined;
  if (!isTime(boundAt) || !isTime(seenAt)) return undefined;
  return {
    host,
    session,
    ...(isText(agent) ? { agent } : {}),
    run,
    ...(isText(at) ? { at } : {}),
    cwd,
    ...(isTime(pid) && Number.isInteger(pid) ? { pid } : {}),
    ...(isText(boot) ? { boot } : {}),
    boundAt,
    seenAt,
    ...(isTime(endedAt) ? { endedAt } : {}),
    ...(cleared === true ? { cleared } : {}),
    ...(driven === true ? { driven } : {}),
    ...(isTime(pressure) && pressure <= 100 ? { pressure } : {}),
    ...(isCost(cost) ? { cost } : {}),
  };
}

/** Undefined if the text is not a session key. */
export function parseKey(text: string): SessionKey | undefined {
  const read = parse(text);
  if (typeof read !== 'object' || read === null) return undefined;
  // Every field is checked below.
  const { host, session, agent } = read as Record<string, unknown>;
  if (!isText(host) || !isText(session)) return undefined;
  return { host, session, ...(isText(agent) ? { agent } : {}) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isTime = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0;

function isCost(value: unknown): value is { spent: number; total: number } {
  const isAmount = (each: unknown): boolean => typeof each === 'number' && each >= 0;
  return (
    typeof value === 'object' &&
    value !== null &&
    'spent' in value &&
    'total' in value &&
    isAmount(value.spent) &&
    isAmount(value.total)
  );
}
