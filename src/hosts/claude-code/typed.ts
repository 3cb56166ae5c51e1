import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment, HookInput } from '../../runtime/index.ts';
import { textIn } from '../payload.ts';
import { parseRecord } from '../transcript-record.ts';

/**
 * The host adds a typed line to its history before the hook runs; a prompt that the model scheduled is not there, and
 * an unattended session has none. A model with a shell can write that file, which the documentation says.
 */
export function typed({ session, prompt }: HookInput, env: Environment, home: string): boolean {
  if (env.CLAUDE_CODE_SESSION_ATTENDED !== '1' || prompt === undefined) return false;
  const directory = env.CLAUDE_CONFIG_DIR ?? join(home, '.claude');
  const lines = endOf(join(directory, 'history.jsonl')).trimEnd().split('\n');
  const record = parseRecord(lines.at(-1) ?? '');
  return textIn(record, 'display')?.trim() === prompt.trim() && textIn(record, 'sessionId') === session;
}

const maxTail = 256 * 1024;

function endOf(file: string): string {
  try {
    const handle = openSync(file, 'r');
    try {
      const { size } = fstatSync(handle);
      const bytes = Buffer.alloc(Math.min(size, maxTail));
      return bytes.toString('utf8', 0, readSync(handle, bytes, 0, bytes.length, size - bytes.length));
    } finally {
      closeSync(handle);
    }
  } catch {
    return '';
  }
}
