/** What may still be copied; spent while copying. */
export interface Budget {
  nodes: number;
  characters: number;
}

const maxDepth = 32;

/** The value at a path of own properties; undefined where it ends early. */
export function readPath(value: unknown, path: readonly string[]): unknown {
  let at = value;
  for (const part of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, part)) return undefined;
    if (Array.isArray(at) && part === 'length') return undefined;
    at = Reflect.get(at, part);
  }
  return at;
}

/** A deep copy of own JSON values without prototypes, whole numbers as CEL's int; undefined when the budget is spent. */
export function copyValue(value: unknown, budget: Budget, depth = 0): unknown {
  if (--budget.nodes < 0 || depth > maxDepth) return undefined;
  switch (typeof value) {
    case 'string':
      budget.characters -= value.length;
      return budget.characters < 0 ? undefined : value;
    case 'number':
      return Number.isSafeInteger(value) ? BigInt(value) : value;
    case 'boolean':
      return value;
    case 'object':
      return value === null ? null : copyObject(value, budget, depth);
    default:
      return null;
  }
}

function copyObject(value: object, budget: Budget, depth: number): unknown {
  if (Array.isArray(value)) {
    const list: unknown[] = [];
    for (const each of value) {
      const copy = copyValue(each, budget, depth + 1);
      if (copy === undefined) return undefined;
      list.push(copy);
    }
    return list;
  }
  const map: Record<string, unknown> = Object.create(null);
  for (const key of Object.keys(value)) {
    const copy = copyValue(Reflect.get(value, key), budget, depth + 1);
    if (copy === undefined) return undefined;
    // A null-prototype object takes any key as its own; the library asks for `constructor`.
    if (key !== 'constructor' && key !== '__proto__') map[key] = copy;
  }
  return map;
}
