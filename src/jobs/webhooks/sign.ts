import { createHmac, randomBytes } from 'node:crypto';

const prefix = 'whsec_';

/** A secret in Standard Webhooks format. */
export const newSecret = (): string => `${prefix}${randomBytes(32).toString('base64')}`;

export interface Message {
  /** The same for every attempt, so that receivers can detect duplicates. */
  id: string;
  /** Time of this attempt in seconds since the epoch. */
  timestamp: number;
  body: string;
}

/** The three Standard Webhooks headers. */
export function signedHeaders(secret: string, { id, timestamp, body }: Message): Record<string, string> {
  const key = Buffer.from(secret.slice(prefix.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${signature}`,
  };
}
