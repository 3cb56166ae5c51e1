import type { Command } from '../machine/index.ts';
import { digestOf } from '../store/index.ts';

/**
 * A repeated call comes at another moment, perhaps from another session, and its caller may see its files and gates
 * differently by then.
 */
const circumstantial = new Set(['now', 'actor', 'session', 'tree', 'facts', 'runnerAlive', 'missing']);

/** What a call asks for and on whose behalf: a key that repeats it is answered as before, and refused for anything else. */
export function fingerprintOf(command: Command, principal: string | undefined): string {
  const content = Object.entries(command).filter(([name]) => !circumstantial.has(name));
  const call = [principal ?? null, command.actor?.kind ?? 'agent', Object.fromEntries(content)];
  return digestOf(Buffer.from(JSON.stringify(call, sorted))).slice(-32);
}

/** The same text for the same content, whatever the order of keys. */
const sorted = (_key: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;
