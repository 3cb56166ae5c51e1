/**
 * A frozen copy that holds on to nothing else: a string that was cut out of a long one keeps all of it alive. What is
 * frozen is a copy already, and states share most of themselves.
 */
export function ownCopy<T>(value: T): T;
export function ownCopy(value: unknown): unknown {
  if (typeof value === 'string') return value.length < shortest ? value : JSON.parse(JSON.stringify(value));
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (Array.isArray(value)) return Object.freeze(value.map((part) => ownCopy(part)));
  const parts = Object.entries(value).filter(([, part]) => part !== undefined);
  return Object.freeze(Object.fromEntries(parts.map(([name, part]) => [name, ownCopy(part)])));
}

/** V8 copies what is shorter. */
const shortest = 13;
