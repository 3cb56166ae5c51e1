/** What may still be copied; spent while copying. */
export interface Budget {
  nodes: number;
  characters: number;
}

const maxDepth = 32;

/**
 * The value at a path of own properties; undefined where it ends early. At its end, `length` is the size of a text or a
 * list, and 0 where that is missing. An output may also be named by its whole key.
 */
export function readPath(value: unknown, path: readonly string[]): unknown {
  const [root, ...rest] = path;
  if (root === 'outputs' && rest.length > 0) {
    const outputs = ownValue(value, root);
    const found = ownValue(outputs, rest.join('.'));
    if (found !== undefined) return found;
    if (rest.at(-1) !== 'length') return follow(outputs, rest.join('.').split('.'));
  }
  const last = path.at(-1);
  if (last !== 'length' || path.length < 2) return follow(value, path);
  const measured = readPath(value, path.slice(0, -1));
  if (typeof measured === 'string' || Array.isArray(measured)) return measured.length;
  return measured === undefined || measured === null ? 0 : ownValue(measured, last);
}

const follow = (value: unknown, path: readonly string[]): unknown => path.reduce(ownValue, value);

const ownValue = (value: unknown, part: string): unknown =>
  typeof value === 'object' &&
  value !== null &&
  Object.hasOwn(value, part) &&
  !(Array.isArray(value) && part === 'length')
    ? Reflect.get(value, part)
    : undefined;

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
