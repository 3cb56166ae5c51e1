import { hash, randomBytes } from 'node:crypto';

/**
 * A token of the server: `sf_<id>_<secret><checksum>`. The checksum tells a mistyped or made-up token from one that may
 * exist without asking the database; tokens of earlier versions have none.
 */
const pattern = /^(sf_([a-z0-9]{1,32})_[A-Za-z0-9_-]{43})([A-Za-z0-9_-]{6})?$/;
const idBytes = 8;
const secretBytes = 32;

const checksumOf = (text: string): string => hash('sha256', text, 'base64url').slice(0, 6);

export function newToken(): { id: string; token: string } {
  const id = randomBytes(idBytes).toString('hex');
  const text = `sf_${id}_${randomBytes(secretBytes).toString('base64url')}`;
  return { id, token: `${text}${checksumOf(text)}` };
}

/** The id in a token, or undefined if no server ever issued such a token. */
export function tokenId(token: string): string | undefined {
  const [, text = '', id, checksum] = pattern.exec(token) ?? [];
  return checksum === undefined || checksum === checksumOf(text) ? id : undefined;
}

/** Lookups use the hash, which rules out timing attacks on the token. */
export const hashToken = (token: string): string => hash('sha256', token, 'hex');
