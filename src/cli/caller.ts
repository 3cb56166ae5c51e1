import { readlinkSync } from 'node:fs';
import { userInfo } from 'node:os';
import { agentVariables, sessionIn } from '../hosts/index.ts';
import type { RefusalText } from '../messages/index.ts';
import type { CallerIdentity } from '../runtime/index.ts';
import { notAPerson } from '../workspace/index.ts';
import type { Io } from './io.ts';

/** Somebody at a terminal of their own; everybody else is taken for an agent. */
export const isPerson = (io: Io): boolean => whyNotAPerson(io) === undefined;

/** `as` is the name that a reviewing agent gives itself. */
export function callerOf(io: Io, as?: string): CallerIdentity {
  const session = io.env.STEPFAST_SESSION?.trim();
  if (isPerson(io)) return { actor: { kind: 'person', name: as ?? userName(io) } };
  return {
    actor: { kind: 'agent', name: as },
    ...(session ? { session } : {}),
  };
}

/** Who reviews what these sessions did: one of their own shells is that session, whatever it calls itself. */
export function reviewerOf(io: Io, did: readonly (string | undefined)[], as?: string): CallerIdentity {
  const who = callerOf(io, as);
  const session = sessionIn(io.env);
  if (!session || who.actor?.kind !== 'agent') return who;
  return did.includes(session) ? { actor: { kind: 'agent' }, session } : { session, ...who };
}

export const person = (io: Io): CallerIdentity => ({ actor: { kind: 'person', name: userName(io) } });

/** What whoever is no person is told; undefined for a person. */
export function personOnly(io: Io, what: string, command: string): RefusalText | undefined {
  const why = whyNotAPerson(io);
  if (why === undefined) return undefined;
  return {
    code: 'person_only',
    message: `${what} is a person's to decide, and ${why}`,
    next: `a person types it in a terminal of their own: ${command}`,
  };
}

/** Who holds a task that is claimed from a shell; undefined where nobody could tell two callers apart. */
export function holderOf(io: Io, as?: string): string | undefined {
  const named = as?.trim() || io.env.STEPFAST_SESSION?.trim();
  if (named) return named;
  return io.stdin.terminal ? `${userName(io)}@${terminalName()}` : undefined;
}

function terminalName(): string {
  try {
    return readlinkSync('/dev/fd/0').replace(/^\/dev\//, '');
  } catch {
    // Where terminals have no names, the shell stands for its own.
    return String(process.ppid);
  }
}

const whyNotAPerson = (io: Io): string | undefined =>
  notAPerson({
    terminal: io.stdin.terminal && io.stdout.columns !== undefined,
    env: io.env,
    agentVariables,
  });

function userName({ env }: Io): string {
  try {
    return userInfo().username;
  } catch {
    return env.USER || env.USERNAME || 'somebody';
  }
}
