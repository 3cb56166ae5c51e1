import type { Circumstances } from '../engine/index.ts';
import type { Caller, Command } from '../machine/index.ts';
import type { Scope } from '../schema/index.ts';
import { may, type Principal, provenBy } from './principal.ts';
import { credentialRequired, missingScope, problem } from './problem.ts';

type Actor = NonNullable<Caller['actor']>;

const maxName = 1000;

type Type = Command['type'];

/** These need the scope `decide`. An import can start a run at any position, so it counts. */
const decisions: ReadonlySet<Type> = new Set(['cancel', 'import']);
/** Commands that a person sends from a terminal. */
const personCommands: ReadonlySet<Type> = new Set([
  ...decisions,
  'review',
  'answer',
  'proceed',
  'rewind',
  'dropTask',
  'pause',
  'unpause',
  'retryMerge',
]);
/** Commands that Stepfast itself sends from the machine that has the files. */
const engineCommands: ReadonlySet<Type> = new Set([
  'gatesStarted',
  'gatesFinished',
  'prepared',
  'cleanupStarted',
  'cleanupFinished',
  'drive',
  'block',
  'mergeStarted',
  'mergeFinished',
  'holdQueue',
  'adopt',
]);

/** Whether the audit records a command. */
export const isDecision = (type: Type): boolean => personCommands.has(type);

/** The scope of a command, besides what `withProvenActor` asks for. */
export const scopeOf = (type: Type): Scope =>
  engineCommands.has(type) && type !== 'adopt' ? 'gates' : 'write';

/**
 * Sets the server's `now` and an actor that the token proves. The actor may claim less: a person's agent uses that
 * person's token. The caller also checks the scope of the command. Throws `forbidden` and `credential_required`.
 */
export function withProvenActor<C extends { type: Type } & Partial<Caller>>(
  command: C,
  principal: Principal,
  now: number,
): C & { now: number; actor: Actor } {
  const { type, session } = command;
  if (personCommands.has(type) && command.actor?.kind === 'person' && !may(principal, 'decide'))
    throw credentialRequired(principal);
  if (decisions.has(type) && !may(principal, 'decide')) throw missingScope('decide');
  const actor: Actor = { ...actorOf(type, command.actor, principal), principal: provenBy(principal) };
  // Without a session, the author could review its own work.
  if (type === 'review' && actor.kind === 'agent' && !session)
    throw problem('forbidden', 'An agent review needs a session.', {
      next: 'pass the reviewing session; in a shell, set STEPFAST_SESSION',
    });
  return { ...command, now, actor };
}

/** Status for a read-only token: sent as the engine, so that no briefing is recorded. */
export function asReader(
  command: Extract<Command, { type: 'status' }>,
  principal: Principal,
  now: number,
): { command: Command; circumstances: (given: Circumstances | undefined) => Circumstances } {
  const { at } = command;
  const { name } = principal;
  return {
    command: { type: 'status', now, actor: { kind: 'engine', name, principal: provenBy(principal) }, at },
    circumstances: (given) => ({ values: given?.values }),
  };
}

/** A driver that pauses says why. */
const engineName = (type: Type, said: Actor | undefined, { name }: Principal): string =>
  type === 'pause' && said?.name !== undefined ? `${name}: ${said.name}`.slice(0, maxName) : name;

function actorOf(type: Type, said: Actor | undefined, principal: Principal): Actor {
  // Agents report failures and people pause, too, so the command itself says who does. A driver pauses for a person.
  const asEngine =
    type === 'adopt' || type === 'fail' || type === 'pause'
      ? said?.kind === 'engine' && may(principal, 'gates')
      : engineCommands.has(type);
  if (asEngine) return { kind: 'engine', name: engineName(type, said, principal) };
  if (said?.kind === 'person' && principal.kind === 'person' && may(principal, 'decide'))
    return { kind: 'person', name: principal.name };
  // An agent names itself, except in a review, where only the token's name counts: no agent reviews its own work.
  const given = said?.kind === 'agent' ? said.name : undefined;
  const name = type === 'review' && given !== principal.name ? undefined : given;
  return { kind: 'agent', name };
}
