import type { Arrival, Host } from '../runtime/index.ts';
import { endOf } from './session-files.ts';
import type { Delivery } from './session-record.ts';

/** Whether a delivery is in the conversation; `unknown` where there is no transcript to read. */
export function findDelivery(host: Host, transcript: string | undefined, { id, text }: Delivery): Arrival {
  if (id === undefined || text === undefined) return 'missing';
  const end = transcript === undefined || !host.arrival ? undefined : endOf(transcript);
  return end === undefined ? 'unknown' : (host.arrival?.(end, { id, text }) ?? 'unknown');
}
