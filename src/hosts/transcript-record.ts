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
