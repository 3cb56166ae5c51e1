/** How many idempotency keys of a run are at hand; older ones are looked up. */
export const maxRememberedKeys = 256;

/** The last use of each of the last keys, oldest first. */
export function rememberedKeys<T extends { key?: string }>(uses: readonly T[]): (T & { key: string })[] {
  const last = new Map<string, T & { key: string }>();
  for (const use of uses) {
    const { key } = use;
    if (key === undefined) continue;
    last.delete(key);
    last.set(key, { ...use, key });
  }
  return [...last.values()].slice(-maxRememberedKeys);
}
