import { hash } from 'node:crypto';
import type { LongText } from '../machine/index.ts';

/** Texts of more bytes than this are kept beside the journal, not in it. */
export const longTextBytes = 1024;
const openingLength = 300;
const pattern = /^sha256:([0-9a-f]{64})$/;

/** How a text is kept: UTF-8, so a lone surrogate becomes U+FFFD. */
export function describeText(text: string): { bytes: Uint8Array; kept: LongText } {
  const bytes = Buffer.from(text, 'utf8');
  // A cut through a surrogate pair leaves half a character at the end.
  const opening = text
    .slice(0, openingLength)
    .replace(/[\ud800-\udbff]$/, '')
    .toWellFormed();
  return { bytes, kept: { opening, digest: digestOf(bytes), bytes: bytes.length } };
}

export const digestOf = (bytes: Uint8Array): string => `sha256:${hash('sha256', bytes, 'hex')}`;

/** The hex digits; undefined where it is no digest of ours. */
export const digestHex = (digest: string): string | undefined => pattern.exec(digest)?.[1];
