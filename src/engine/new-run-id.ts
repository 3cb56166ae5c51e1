import { randomBytes } from 'node:crypto';
import { slug } from '../machine/index.ts';

/** `feature-20261114-k3f9x2ab`. */
export function newRun(workflow: string, now: number): string {
  const day = new Date(now).toISOString().slice(0, 10).replaceAll('-', '');
  const letters = Array.from(randomBytes(8), (byte) => (byte % 32).toString(32)).join('');
  return `${slug(workflow)}-${day}-${letters}`;
}
