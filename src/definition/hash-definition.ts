import { createHash } from 'node:crypto';
import type { Definition } from '../machine/index.ts';

/** `sha256:` and the hex digest of the definition as JSON with sorted keys: what a run pins and a person trusts. */
export function hashDefinition(definition: Definition): string {
  return `sha256:${createHash('sha256').update(canonical(definition)).digest('hex')}`;
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const parts = Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, each]) => `${JSON.stringify(key)}:${canonical(each)}`);
  return `{${parts.join(',')}}`;
}
