import { existsSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Engine } from '../engine/index.ts';
import { appendNoFollow } from '../store/index.ts';

/** A refused attempt to skip a step, a gate or a review. */
export interface LoggedRefusal {
  now: number;
  run: string;
  code: string;
  at?: string;
}

const codes = [
  'stale_handle',
  'bad_handle',
  'wrong_run',
  'not_briefed',
  'boundary_open',
  'own_work',
  'person_only',
];
const maxBytes = 256 * 1024;

/** Below `sessions`, which tree hashes exclude and git ignores. */
const fileIn = (directory: string, older = ''): string =>
  join(directory, 'sessions', `refusals${older}.jsonl`);

/**
 * Wraps an engine and logs refused attempts to skip work. Refusals are not in the journal, so they have their own file.
 * A line that cannot be written never fails the call.
 */
export function withRefusals(engine: Engine, directory: string): Engine {
  return {
    ...engine,
    async execute(run, command, key, circumstances) {
      const executed = await engine.execute(run, command, key, circumstances);
      const { reply } = executed;
      if (
        (command.type === 'advance' || command.type === 'review') &&
        'code' in reply &&
        codes.includes(reply.code)
      )
        note(directory, { now: command.now, run, code: reply.code, ...atOf(command) });
      return executed;
    },
  };
}

/** Oldest first. */
export function refusalsIn(directory: string): LoggedRefusal[] {
  return [fileIn(directory, '.1'), fileIn(directory)].flatMap((file) => {
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
    return lines.flatMap((line) => parse(line) ?? []);
  });
}

const atOf = (command: object): { at?: string } =>
  'at' in command && typeof command.at === 'string' ? { at: command.at } : {};

function note(directory: string, refusal: LoggedRefusal): void {
  try {
    const file = fileIn(directory);
    if (!existsSync(join(directory, 'sessions'))) return;
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (size > maxBytes) renameSync(file, fileIn(directory, '.1'));
    appendNoFollow(file, `${JSON.stringify(refusal)}\n`);
  } catch {
    // The call matters more than the log.
  }
}

function parse(line: string): LoggedRefusal | undefined {
  try {
    const read: unknown = JSON.parse(line);
    if (typeof read !== 'object' || read === null) return undefined;
    // Every field is checked below.
    const { now, run, code, at } = read as Record<string, unknown>;
    if (typeof now !== 'number' || typeof run !== 'string' || typeof code !== 'string') return undefined;
    return { now, run, code, ...(typeof at === 'string' ? { at } : {}) };
  } catch {
    return undefined;
  }
}
