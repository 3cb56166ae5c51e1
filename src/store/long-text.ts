import { hash } from 'node:crypto';
import type { LongText } from '../machine/index.ts';

/** Longer texts are stored next to the journal instead of in it. */
export const longTextBytes = 1024;
const openingLength = 300;
const pattern = /^sha256:([0-9a-f]{64})$/;

/** Encodes a text as UTF-8, so that a lone surrogate becomes U+FFFD. */
export function describeText(text: string): { bytes: Uint8Array; kept: LongText } {
  const bytes = Buffer.from(text, 'utf8');
  // The slice may end inside a surrogate pair.
  const opening = text
    .slice(0, openingLength)
    .replace(/[\ud800-\udbff]$/, '')
    .toWellFormed();
  return { bytes, kept: { opening, digest: digestOf(bytes), bytes: bytes.length } };
}

export const digestOf = (bytes: Uint8Array): string => `sha256:${hash('sha256', bytes, 'hex')}`;

/** The hex digits of a digest; undefined if the text is not a digest. */
export const digestHex = (digest: string): string | undefined => pattern.exec(digest)?.[1];
