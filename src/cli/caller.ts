import { readlinkSync } from 'node:fs';
import { userInfo } from 'node:os';
import { agentVariables, sessionIn } from '../hosts/index.ts';
import type { RefusalText } from '../messages/index.ts';
import type { CallerIdentity } from '../runtime/index.ts';
import { notAPerson } from '../workspace/index.ts';
import type { Io } from './io.ts';

/** A person has a terminal and no agent's variables; every other caller counts as an agent. */
export const isPerson = (io: Io): boolean => whyNotAPerson(io) === undefined;

/** Who reads what a command prints. A person may send it through a pipe, such as to a pager. */
export const readerOf = ({ stdin, env }: Io): 'agent' | 'person' =>
  notAPerson({ terminal: stdin.terminal, env, agentVariables }) === undefined ? 'person' : 'agent';

/** `as`: the name given by a reviewing agent. */
export function callerOf(io: Io, as?: string): CallerIdentity {
  const session = io.env.STEPFAST_SESSION?.trim();
  if (isPerson(io)) return { actor: { kind: 'person', name: as ?? userName(io) } };
  return {
    actor: { kind: 'agent', name: as },
    ...(session && { session }),
  };
}

/** The reviewer of work done in these sessions. A shell of one of them is that session, whatever `--as` says. */
export function reviewerOf(io: Io, did: readonly (string | undefined)[], as?: string): CallerIdentity {
  const who = callerOf(io, as);
  const session = sessionIn(io.env);
  if (!session || who.actor?.kind !== 'agent') return who;
  return did.includes(session) ? { actor: { kind: 'agent' }, session } : { session, ...who };
}

export const person = (io: Io): CallerIdentity => ({ actor: { kind: 'person', name: userName(io) } });

/** Refuses `what` to a caller that is not a person; undefined for a person. */
export function personOnly(io: Io, what: string, command: string): RefusalText | undefined {
  const why = whyNotAPerson(io);
  if (why === undefined) return undefined;
  return {
    code: 'person_only',
    message: `Only a person can ${what}: ${why}.`,
    next: `A person runs this in their own terminal: ${command}`,
  };
}

/** The holder of a task that is claimed from a shell; undefined where two callers could not be told apart. */
export function holderOf(io: Io, as?: string): string | undefined {
  const named = as?.trim() || io.env.STEPFAST_SESSION?.trim();
  if (named) return named;
  return io.stdin.terminal ? `${userName(io)}@${terminalName()}` : undefined;
}

function terminalName(): string {
  try {
    return readlinkSync('/dev/fd/0').replace(/^\/dev\//, '');
  } catch {
    // Where terminals have no names, the shell's process id identifies the terminal.
    return String(process.ppid);
  }
}

/** Why the caller counts as an agent; undefined for a person. */
export const whyNotAPerson = (io: Io): string | undefined =>
  notAPerson({
    terminal: io.stdin.terminal && io.stdout.columns !== undefined,
    env: io.env,
    agentVariables,
  });

function userName({ env }: Io): string {
  try {
    return userInfo().username;
  } catch {
    return env.USER || env.USERNAME || 'unknown';
  }
}
