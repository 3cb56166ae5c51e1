import type { Caller, Owner } from '../machine/index.ts';
import { shortSession } from './short-session.ts';

/**
 * Who sent the commands of an entry. On a server only the principal is proven: what was done before has none. An agent
 * that works with a person's login has that person's name, so only a person has a name alone.
 */
export function senderText(
  { actor, session }: Pick<Caller, 'actor' | 'session'>,
  { onServer }: { onServer: boolean },
): string {
  const kind = actor?.kind ?? 'agent';
  const { kind: proven, subject } = actor?.principal ?? {};
  if (kind === 'engine') return subject === undefined ? 'stepfast' : `stepfast (${subject})`;
  if (subject !== undefined)
    return kind === 'person' ? subject : `${proven === 'runner' ? 'runner' : 'agent'} ${subject}`;
  if (onServer && kind === 'agent') return 'unknown agent';
  return actor?.name ?? (session === undefined ? kind : `${kind} ${shortSession(session)}`);
}

/** `s1`, or `s1 (claude)` where a server has proven who it is. */
export const holderText = ({ holder, owner }: { holder: string; owner?: Owner }): string =>
  owner ? `${holder} (${owner.subject})` : holder;
