import { readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeNoFollow } from '../../store/index.ts';
import { type Binding, encodeBinding, fileOf, parseBinding, type SessionKey } from './binding.ts';

const tries = 3;

export interface Usage {
  percent?: number | undefined;
  /** The host's total in US dollars. */
  cost?: number | undefined;
}

/** From these on, in percent, an agent should write down what a compaction would lose. */
const levels = [75, 90] as const;
export type PressureLevel = (typeof levels)[number];

/** The highest level that is reached. */
export const pressureLevel = (percent = 0): PressureLevel | undefined =>
  levels.findLast((level) => percent >= level);

export const levelsUpTo = (level: PressureLevel): PressureLevel[] => levels.filter((each) => each <= level);

/** How full the context of the fullest of these sessions is, where that is worth mentioning. */
export function highPressure(bindings: readonly Binding[]): number | undefined {
  const open = bindings.filter(({ endedAt }) => endedAt === undefined);
  const highest = Math.max(0, ...open.map(({ pressure = 0 }) => pressure));
  return pressureLevel(highest) === undefined ? undefined : highest;
}

/**
 * Stores how full a session's context is, in percent, and what it has cost, in its binding; never in the journal. Hooks
 * write the same file at any time, so a file that changed meanwhile is read again. Answers whether a level was reached.
 */
export function noteUsage(directory: string, key: SessionKey, usage: Usage): boolean {
  const file = join(directory, 'sessions', fileOf(key));
  for (let count = 0; count < tries; count += 1) {
    const before = readOrEmpty(file);
    const binding = parseBinding(before);
    if (!binding || binding.endedAt !== undefined) return false;
    const { percent = binding.pressure } = usage;
    const cost = usage.cost === undefined ? binding.cost : addedCost(binding.cost, usage.cost);
    if (percent === binding.pressure && cost?.total === binding.cost?.total) return false;
    const temporary = `${file}.${process.pid.toString(16)}.tmp`;
    const used = { ...(percent === undefined ? {} : { pressure: percent }), ...(cost ? { cost } : {}) };
    writeNoFollow(temporary, encodeBinding({ ...binding, ...used }));
    if (readOrEmpty(file) === before) {
      renameSync(temporary, file);
      return (pressureLevel(percent) ?? 0) > (pressureLevel(binding.pressure) ?? 0);
    }
    rmSync(temporary, { force: true });
  }
  return false;
}

/** What the host has counted before the session was bound is not the run's, and its count begins anew with its process. */
function addedCost(known: Binding['cost'], total: number): NonNullable<Binding['cost']> {
  if (!known) return { spent: 0, total };
  return { spent: known.spent + (total < known.total ? total : total - known.total), total };
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
