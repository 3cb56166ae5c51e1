import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { StepfastError } from '../../errors.ts';

/** null for a missing file. Throws if it cannot be read or is not text. */
export function readSettingsFile(path: string): string | null {
  if (!existsSync(path)) return null;
  const bytes = readFileSync(path);
  const text = bytes.toString('utf8');
  if (Buffer.from(text, 'utf8').equals(bytes)) return text;
  throw new StepfastError('not_utf8', `${path} is not written in UTF-8, so Stepfast leaves it alone.`);
}

/**
 * Atomic, by a rename next to the target. Keeps links and the file mode. null removes the file.
 */
export function writeSettingsFile(path: string, text: string | null): void {
  if (text === null) return rmSync(path, { force: true });
  const target = existsSync(path) ? realpathSync(path) : path;
  mkdirSync(dirname(target), { recursive: true });
  const mode = statSync(target, { throwIfNoEntry: false })?.mode;
  const temporary = join(dirname(target), `.stepfast-${randomBytes(6).toString('hex')}.tmp`);
  try {
    writeFileSync(temporary, text, { flag: 'wx' });
    if (mode !== undefined) chmodSync(temporary, mode & 0o7777);
    renameSync(temporary, target);
  } finally {
    rmSync(temporary, { force: true });
  }
}

export const isLink = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
