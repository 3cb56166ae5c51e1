/** The number of idempotency keys kept in the snapshot; older keys are looked up in the journal. */
export const maxRememberedKeys = 256;

/** The last use of each of the newest keys, oldest first. */
export function rememberedKeys<T extends { key?: string | undefined }>(
  uses: readonly T[],
): (T & { key: string })[] {
  const last = new Map<string, T & { key: string }>();
  for (const use of uses) {
    const { key } = use;
    if (key === undefined) continue;
    last.delete(key);
    last.set(key, { ...use, key });
  }
  return [...last.values()].slice(-maxRememberedKeys);
}
