/**
 * A frozen copy that holds on to nothing else: a string that was cut out of a long one keeps all of it alive. What is
 * frozen is a copy already, and states share most of themselves.
 */
export function frozenCopy<T>(value: T): T;
export function frozenCopy(value: unknown): unknown {
  if (typeof value === 'string') return value.length < copiedByV8 ? value : JSON.parse(JSON.stringify(value));
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (Array.isArray(value)) return Object.freeze(value.map((part) => frozenCopy(part)));
  const parts = Object.entries(value).filter(([, part]) => part !== undefined);
  return Object.freeze(Object.fromEntries(parts.map(([name, part]) => [name, frozenCopy(part)])));
}

/** V8 copies what is shorter. */
const copiedByV8 = 13;
