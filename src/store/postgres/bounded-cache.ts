/** A least-recently-used cache by project and name, bounded by the sum of the sizes. */
export interface BoundedCache<V extends { size: number }> {
  get(project: number, name: string): V | undefined;
  has(project: number, name: string): boolean;
  set(project: number, name: string, value: V): void;
  forget(project: number, name: string): void;
}

export function createBoundedCache<V extends { size: number }>(maxSize: number): BoundedCache<V> {
  const entries = new Map<string, V>();
  let size = 0;

  function take(name: string): V | undefined {
    const value = entries.get(name);
    if (!value) return undefined;
    entries.delete(name);
    size -= value.size;
    return value;
  }

  function put(name: string, value: V): void {
    entries.set(name, value);
    size += value.size;
    for (const oldest of entries.keys()) {
      if (size <= maxSize) return;
      take(oldest);
    }
  }

  return {
    get(project, name) {
      const value = take(keyOf(project, name));
      if (value) put(keyOf(project, name), value);
      return value;
    },
    has: (project, name) => entries.has(keyOf(project, name)),
    set(project, name, value) {
      take(keyOf(project, name));
      put(keyOf(project, name), value);
    },
    forget(project, name) {
      take(keyOf(project, name));
    },
  };
}

const keyOf = (project: number, name: string): string => `${project} ${name}`;
