/**
 * A frozen copy that retains nothing else: a slice of a long string would keep the whole string alive. Frozen values are
 * copies already and are reused, because consecutive states share most of their parts.
 */
export function frozenCopy<T>(value: T): T;
export function frozenCopy(value: unknown): unknown {
  if (typeof value === 'string')
    return value.length < minSliceLength ? value : JSON.parse(JSON.stringify(value));
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (Array.isArray(value)) return Object.freeze(value.map((part) => frozenCopy(part)));
  const parts = Object.entries(value).filter(([, part]) => part !== undefined);
  return Object.freeze(Object.fromEntries(parts.map(([name, part]) => [name, frozenCopy(part)])));
}

/** V8 copies shorter slices. */
const minSliceLength = 13;
