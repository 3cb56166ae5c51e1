/** What a server remembers, by project and name: as much as fits, what was used last. */
export interface BoundedCache<V extends { size: number }> {
  get(project: number, name: string): V | undefined;
  has(project: number, name: string): boolean;
  set(project: number, name: string, value: V): void;
  forget(project: number, name: string): void;
}

export function createBoundedCache<V extends { size: number }>(most: number): BoundedCache<V> {
  const known = new Map<string, V>();
  let size = 0;

  function take(name: string): V | undefined {
    const value = known.get(name);
    if (!value) return undefined;
    known.delete(name);
    size -= value.size;
    return value;
  }

  function put(name: string, value: V): void {
    known.set(name, value);
    size += value.size;
    for (const oldest of known.keys()) {
      if (size <= most) return;
      take(oldest);
    }
  }

  return {
    get(project, name) {
      const value = take(nameOf(project, name));
      if (value) put(nameOf(project, name), value);
      return value;
    },
    has: (project, name) => known.has(nameOf(project, name)),
    set(project, name, value) {
      take(nameOf(project, name));
      put(nameOf(project, name), value);
    },
    forget(project, name) {
      take(nameOf(project, name));
    },
  };
}

const nameOf = (project: number, name: string): string => `${project} ${name}`;
