import type { ArgumentProblem, Refused } from '../messages/index.ts';
import { nearest } from '../suggest.ts';
import type { ObjectSchema, Schema, ToolSpec } from './tools.ts';

export type Arguments = Readonly<Record<string, unknown>>;

/** Checks a model's arguments against the tool's schema; null counts as absent. */
export function checkArguments(tool: ToolSpec, given: unknown): { given: Arguments } | { refused: Refused } {
  const found = problemIn(tool.inputSchema, given ?? {}, '');
  if (found !== undefined) return { refused: badArgument(tool.name, found) };
  // Checked above.
  const entries = Object.entries((given ?? {}) as object).filter(([, value]) => value !== null);
  return { given: Object.fromEntries(entries) };
}

export const badArgument = (tool: string, problem: ArgumentProblem): Refused => ({
  code: 'bad_argument',
  params: { tool, problem },
});

export const textIn = (given: Arguments, name: string): string | undefined => {
  const value = given[name];
  return typeof value === 'string' ? value : undefined;
};

function problemIn(schema: Schema, value: unknown, path: string): ArgumentProblem | undefined {
  switch (schema.type) {
    case 'string':
      return stringProblem(schema.enum, value, path);
    case 'boolean':
      return typeof value === 'boolean' ? undefined : wrong(path, 'true or false', value);
    case 'array': {
      if (!Array.isArray(value)) return wrong(path, 'a list', value);
      return first(value, (item, index) => problemIn(schema.items, item, `${path}[${index}]`));
    }
    case 'object':
      return objectProblem(schema, value, path);
  }
}

function stringProblem(
  allowed: readonly string[] | undefined,
  value: unknown,
  path: string,
): ArgumentProblem | undefined {
  if (typeof value !== 'string') return wrong(path, 'a string', value);
  if (!allowed || allowed.includes(value)) return undefined;
  const meant = nearest(value, allowed);
  const problem = { is: 'value' as const, path, given: value.slice(0, 40), allowed };
  return meant === undefined ? problem : { ...problem, nearest: meant };
}

function objectProblem(schema: ObjectSchema, value: unknown, path: string): ArgumentProblem | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return wrong(path === '' ? 'the arguments' : path, 'an object', value);
  const inside = (key: string): string => (path === '' ? key : `${path}.${key}`);
  const { properties = {}, required = [] } = schema;
  const known = Object.keys(properties);
  const entries = Object.entries(value).filter(([, each]) => each !== null && each !== undefined);
  const keys = entries.map(([key]) => key);
  // Hosts add their own keys, so only a key close to a known one is refused.
  for (const key of keys) {
    const meant = known.includes(key) ? undefined : nearest(key, known);
    if (meant !== undefined) return { is: 'unknown', path: inside(key), nearest: meant };
  }
  const missing = required.find((key) => !keys.includes(key));
  if (missing !== undefined) {
    const description = properties[missing]?.description;
    return { is: 'missing', path: inside(missing), ...(description === undefined ? {} : { description }) };
  }
  return first(entries, ([key, each]) => {
    const part = Object.hasOwn(properties, key) ? properties[key] : undefined;
    return part && problemIn(part, each, inside(key));
  });
}

function wrong(path: string, expected: string, value: unknown): ArgumentProblem {
  const got = value === null ? 'null' : Array.isArray(value) ? 'a list' : `a value of type ${typeof value}`;
  return { is: 'type', path, expected, got };
}

function first<T>(items: readonly T[], find: (item: T, index: number) => ArgumentProblem | undefined) {
  for (const [index, item] of items.entries()) {
    const found = find(item, index);
    if (found) return found;
  }
  return undefined;
}
