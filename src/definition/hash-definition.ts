import { createHash } from 'node:crypto';
import type { Definition } from '../machine/index.ts';

/** What a run pins. */
export const hashDefinition = (definition: Definition): string => hashJson(definition);

/** `sha256:` and the hex digest of the value as JSON with sorted keys. */
export const hashJson = (value: unknown): string =>
  `sha256:${createHash('sha256').update(canonical(value)).digest('hex')}`;

/** Of everything but what is only read: a text can change, and no step, check or review. */
export const hashWithoutProse = (definition: Definition): string => hashJson(withoutProse(definition));

const prose: ReadonlySet<string> = new Set(['title', 'description', 'instructions']);

function withoutProse(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutProse);
  if (typeof value !== 'object' || value === null) return value;
  // An input may be called `title`.
  const kept = Object.entries(value).filter(([key, each]) => !(prose.has(key) && typeof each === 'string'));
  return Object.fromEntries(kept.map(([key, each]) => [key, withoutProse(each)]));
}

export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const parts = Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, each]) => `${JSON.stringify(key)}:${canonical(each)}`);
  return `{${parts.join(',')}}`;
}
