import { readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeNoFollow } from '../../store/index.ts';
import { encodeBinding, fileOf, parseBinding, type SessionKey } from './binding.ts';

const tries = 3;

/**
 * Stores how full a session's context is, in percent, in its binding; never in the journal. Hooks write the same file at
 * any time, so a file that changed meanwhile is read again.
 */
export function notePressure(directory: string, key: SessionKey, percent: number): void {
  const file = join(directory, 'sessions', fileOf(key));
  for (let count = 0; count < tries; count += 1) {
    const before = readOrEmpty(file);
    const binding = parseBinding(before);
    if (!binding || binding.endedAt !== undefined || binding.pressure === percent) return;
    const temporary = `${file}.${process.pid.toString(16)}.tmp`;
    writeNoFollow(temporary, encodeBinding({ ...binding, pressure: percent }));
    if (readOrEmpty(file) === before) return renameSync(temporary, file);
    rmSync(temporary, { force: true });
  }
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
