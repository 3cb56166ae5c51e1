import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { Arrival, Host } from '../runtime/index.ts';
import type { Sent } from './session-record.ts';

/** What was injected a moment ago stands near the end. */
const maxBytes = 4 * 1024 * 1024;

/** Whether what was sent is in the conversation; `unknown` where there is nothing to read yet. */
export function arrivalOf(host: Host, transcript: string | undefined, { id, text }: Sent): Arrival {
  if (id === undefined || text === undefined) return 'missing';
  const end = transcript === undefined ? undefined : endOf(transcript);
  return end === undefined ? 'unknown' : host.arrival(end, { id, text });
}

function endOf(file: string): string | undefined {
  try {
    const handle = openSync(file, 'r');
    try {
      const { size } = fstatSync(handle);
      const bytes = Buffer.alloc(Math.min(size, maxBytes));
      const length = readSync(handle, bytes, 0, bytes.length, size - bytes.length);
      return bytes.toString('utf8', 0, length);
    } finally {
      closeSync(handle);
    }
  } catch {
    return undefined;
  }
}
