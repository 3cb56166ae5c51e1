/** Keys come from files and agents, so `constructor` must not be found on a prototype. */
export function own<T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
}

export function without<T>(record: Readonly<Record<string, T>>, drop: (key: string, value: T) => boolean) {
  return Object.fromEntries(Object.entries(record).filter(([key, value]) => !drop(key, value)));
}

/** Sets an own property, also where the key is `__proto__`. */
export function put<T>(record: Record<string, T>, key: string, value: T): void {
  Object.defineProperty(record, key, { value, enumerable: true, writable: true, configurable: true });
}
