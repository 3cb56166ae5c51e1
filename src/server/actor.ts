import type { Circumstances } from '../engine/index.ts';
import type { Caller, Command } from '../machine/index.ts';
import { may, type Principal } from './principal.ts';
import { lacksScope, problem } from './problem.ts';

type Actor = NonNullable<Caller['actor']>;

type Type = Command['type'];

/** Needs the scope `decide`; an import begins a run at any position. */
const decisions: ReadonlySet<Type> = new Set(['cancel', 'import']);
/** What a person at a terminal sends as one. */
const persons: ReadonlySet<Type> = new Set([
  ...decisions,
  'review',
  'answer',
  'proceed',
  'rewind',
  'dropTask',
]);
/** What Stepfast itself reports from where the files are. */
const engines: ReadonlySet<Type> = new Set(['gatesStarted', 'gatesFinished', 'adopt']);

/**
 * A command as it counts: `now` is the server's, and a caller is never more than its token proves. It may be less: a
 * person's own agent works with that person's token. That it may report gates was looked at before. Throws `forbidden`.
 */
export function asProven<C extends { type: Type } & Partial<Caller>>(
  command: C,
  principal: Principal,
  { now, url }: { now: number; url: string },
): C & { now: number; actor: Actor } {
  const { type, session } = command;
  if (persons.has(type) && command.actor?.kind === 'person' && principal.kind === 'agent')
    throw problem('forbidden', `This is the token of the agent '${principal.name}'.`, {
      next: `log in with your own: stepfast login ${url}`,
    });
  if (decisions.has(type) && !may(principal, 'decide')) throw lacksScope('decide');
  const actor = actorOf(type, command.actor, principal);
  // Without one it could be the very session that did the work.
  if (type === 'review' && actor.kind === 'agent' && !session)
    throw problem('forbidden', 'A review by an agent needs its session.', {
      next: 'name the session that reviews; in a shell: set STEPFAST_SESSION',
    });
  return { ...command, now, actor };
}

/** For whoever may only read: the status as somebody sees it who is not to be briefed, which changes nothing. */
export function asReader(
  command: Extract<Command, { type: 'status' }>,
  { name }: Principal,
  now: number,
): { command: Command; circumstances: (given: Circumstances | undefined) => Circumstances } {
  const { at } = command;
  return {
    command: { type: 'status', now, actor: { kind: 'engine', name }, at },
    circumstances: (given) => ({ values: given?.values }),
  };
}

function actorOf(type: Type, said: Actor | undefined, principal: Principal): Actor {
  const asEngine = type === 'adopt' ? said?.kind === 'engine' && may(principal, 'gates') : engines.has(type);
  if (asEngine) return { kind: 'engine', name: principal.name };
  if (said?.kind === 'person' && principal.kind === 'person' && may(principal, 'decide'))
    return { kind: 'person', name: principal.name };
  // An agent says which of the workflow's agents it is, and a reviewer proves it: none reviews its own work by a name.
  const given = said?.kind === 'agent' ? said.name : undefined;
  const name = type === 'review' && given !== principal.name ? undefined : given;
  return { kind: 'agent', name };
}
