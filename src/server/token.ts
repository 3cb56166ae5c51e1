import { hash } from 'node:crypto';

const pattern = /^sf_[a-z0-9]{1,32}_[A-Za-z0-9_-]{43}$/;

/** Lookups use the hash, which rules out timing attacks on the token. */
export const hashToken = (token: string): string => hash('sha256', token, 'hex');

export const isToken = (text: string): boolean => pattern.test(text);
