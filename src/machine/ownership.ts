import type { Caller, Command, Owner, Receipt } from '../schema/index.ts';
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

/** A runner starts sessions with tokens that it makes, whose names begin with its own. */
export function sessionOwner(caller: Caller, as: string | undefined): Owner | undefined {
  const me = ownerOf(caller);
  if (as === undefined || me?.kind !== 'runner') return me;
  return { kind: 'agent', subject: `${me.subject}/${as}`, parent: me.subject };
}

/** Who does the work of a command. A runner reports it for the session that did it. */
export function authorOf(state: State | null, caller: Caller): Owner | undefined {
  const me = ownerOf(caller);
  if (me?.kind !== 'runner' || caller.session === undefined) return me;
  return own(state?.sessions ?? {}, caller.session)?.owner ?? me;
}

/** A runner's word counts as the engine's; other tokens are where agents are. */
export const reporterOf = ({ actor }: Caller): Receipt['reportedBy'] =>
  actor?.principal && actor.principal.kind !== 'runner' ? 'agent' : undefined;

/** Whether what belongs to one may be used by the other. What has no owner, or was done without proof, is anybody's. */
export const sharesWork = (one: Owner | undefined, other: Owner | undefined): boolean =>
  !one ||
  !other ||
  (one.issuer === other.issuer && (one.parent ?? one.subject) === (other.parent ?? other.subject));

/** A runner takes over what another token has begun: an agent's could keep it for ever. */
export const outranks = (asking: Owner | undefined, has: Owner | undefined): boolean =>
  asking?.kind === 'runner' && has !== undefined && has.kind !== 'runner';

/** A person and a runner act on what others do. An agent's machine that calls itself the engine does not. */
const actsForOthers = ({ actor }: Caller): boolean =>
  actor?.kind === 'person' || (actor?.kind === 'engine' && actor.principal?.kind === 'runner');

/** Refuses a command that names the session of another principal. */
export function foreignWork(state: State, command: Command): Refusal | undefined {
  if (actsForOthers(command)) return undefined;
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

/** Refuses a task that another principal holds. */
export function foreignTask({ lease }: Cursor, caller: Caller): Refusal | undefined {
  if (actsForOthers(caller) || sharesWork(lease?.owner, ownerOf(caller))) return undefined;
  return refuse(
    'not_yours',
    { what: 'task', owner: lease?.owner?.subject ?? '' },
    { action: { do: 'ask_status' } },
  );
}
