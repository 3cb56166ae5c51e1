import type { Caller, Command } from '../machine/index.ts';
import type { Circumstances } from '../runtime/index.ts';
import { may, type Principal } from './principal.ts';
import { lacksScope } from './problem.ts';

type Actor = NonNullable<Caller['actor']>;

/** What is somebody's to decide even where the machine would take it from anybody. */
const decisions: ReadonlySet<Command['type']> = new Set(['cancel']);

/**
 * A command as it counts: `now` is the server's, and a caller is never more than its token proves. It may be less: a
 * person's own agent works with that person's token. That it may report gates was looked at before. Throws `forbidden`.
 */
export function asProven<C extends { type: Command['type'] } & Partial<Caller>>(
  command: C,
  principal: Principal,
  now: number,
): C & { now: number; actor: Actor } {
  const gates = command.type === 'gatesStarted' || command.type === 'gatesFinished';
  if (decisions.has(command.type) && !may(principal, 'decide')) throw lacksScope('decide');
  return { ...command, now, actor: actorOf(command.actor, principal, gates) };
}

/** For whoever may only read: the status as somebody sees it who is not to be briefed, which changes nothing. */
export function asReader(
  command: Extract<Command, { type: 'status' }>,
  { name }: Principal,
  now: number,
): { command: Command; circumstances: (given: Circumstances | undefined) => Circumstances } {
  const { at } = command;
  return {
    command: { type: 'status', now, actor: { kind: 'engine', name }, ...(at === undefined ? {} : { at }) },
    circumstances: (given) => (given?.values ? { values: given.values } : {}),
  };
}

function actorOf(said: Actor | undefined, principal: Principal, gates: boolean): Actor {
  if (gates || (said?.kind === 'engine' && may(principal, 'gates')))
    return { kind: 'engine', name: principal.name };
  if (said?.kind === 'person' && principal.kind === 'person' && may(principal, 'decide'))
    return { kind: 'person', name: principal.name };
  // An agent says which of the workflow's agents it is; a token's name never does, so that none reviews its own work.
  const name = said?.kind === 'agent' ? said.name : undefined;
  return { kind: 'agent', ...(name === undefined ? {} : { name }) };
}
