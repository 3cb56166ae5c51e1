import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { isPayload, type Payload } from './payload.ts';

/** A line of a transcript. undefined for a partial one: a long transcript is read from its middle. */
export function parseRecord(line: string): Payload | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isPayload(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The records of a file that may be long, or not exist yet. */
export async function* recordsOf(file: string): AsyncGenerator<Payload> {
  try {
    for await (const line of createInterface({ input: createReadStream(file) })) {
      const record = parseRecord(line);
      if (record) yield record;
    }
  } catch {
    // It does not exist yet.
  }
}
