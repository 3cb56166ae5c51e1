import type { Caller, Command, Owner } from '../schema/index.ts';
import { own } from './own-property.ts';
import { type Refusal, refuse } from './refusal.ts';
import type { Cursor, State } from './state.ts';

/** The principal of a command; absent without a server, which alone can prove one. */
export function ownerOf({ actor }: Caller): Owner | undefined {
  if (!actor?.principal) return undefined;
  const { token: _, ...owner } = actor.principal;
  return owner;
}

export const samePrincipal = (one: Owner, other: Owner): boolean =>
  one.subject === other.subject && one.issuer === other.issuer;

/** Whether what belongs to one may be used by the other. What has no owner, or was done without proof, is anybody's. */
export const sharesWork = (one: Owner | undefined, other: Owner | undefined): boolean =>
  !one ||
  !other ||
  (one.issuer === other.issuer && (one.parent ?? one.subject) === (other.parent ?? other.subject));

/** Refuses an agent that names the session or the task of another principal. */
export function foreignWork(state: State, command: Command): Refusal | undefined {
  if ((command.actor?.kind ?? 'agent') !== 'agent') return undefined;
  const me = ownerOf(command);
  const from =
    command.type === 'session' && command.event.type === 'started' ? command.event.from : undefined;
  const holder = command.type === 'claim' ? command.holder : undefined;
  for (const session of [command.session, from, holder]) {
    const owner = session === undefined ? undefined : own(state.sessions, session)?.owner;
    if (owner && !sharesWork(owner, me))
      return refuse('not_yours', { what: 'session', owner: owner.subject });
  }
  return undefined;
}

/** Refuses an agent a task that another principal holds. */
export function foreignTask({ lease }: Cursor, caller: Caller): Refusal | undefined {
  if ((caller.actor?.kind ?? 'agent') !== 'agent' || sharesWork(lease?.owner, ownerOf(caller)))
    return undefined;
  return refuse(
    'not_yours',
    { what: 'task', owner: lease?.owner?.subject ?? '' },
    { action: { do: 'ask_status' } },
  );
}
