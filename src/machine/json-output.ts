import type { Step } from '../schema/index.ts';

/**
 * `output: json` and `schema`: the part of JSON Schema that can be checked in time that grows with the output alone, so
 * that no workflow and no agent can keep the machine busy. Any other keyword is refused when the workflow is loaded.
 */

type Json = unknown;
type Path = (string | number)[];
type Rule = (rule: Json, value: Json, path: Path, schema: Record<string, Json>) => string | undefined;

/** Where a schema cannot be used, and why. */
export interface SchemaProblem {
  path: Path;
  keyword?: string;
  why: 'keyword' | 'value' | 'too_large';
}

const mostParts = 500;
const longestText = 100;
const annotations = ['$schema', '$comment', 'title', 'description', 'default', 'examples'];

const isObject = (value: Json): value is Record<string, Json> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isCount = (value: Json): boolean => Number.isInteger(value) && Number(value) >= 0;
const isNumber = (value: Json): boolean => typeof value === 'number';

const typeOf: Record<string, (value: Json) => boolean> = {
  object: isObject,
  array: Array.isArray,
  string: (value) => typeof value === 'string',
  number: isNumber,
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
};

const texts = (value: Json): string[] => (Array.isArray(value) ? value : [value]).map(String);

/** Compares numbers, or lengths. */
const bound = (
  measure: (value: Json) => number | undefined,
  holds: (measured: number, limit: number) => boolean,
  must: (limit: string) => string,
): Rule => {
  return (rule, value, path) => {
    const measured = measure(value);
    if (measured === undefined || holds(measured, Number(rule))) return undefined;
    return `${nameOf(path)} must ${must(String(rule))}`;
  };
};
const numberOf = (value: Json): number | undefined => (typeof value === 'number' ? value : undefined);
const itemsOf = (value: Json): number | undefined => (Array.isArray(value) ? value.length : undefined);
const lengthOf = (value: Json): number | undefined => (typeof value === 'string' ? value.length : undefined);
const least = (measured: number, limit: number): boolean => measured >= limit;
const most = (measured: number, limit: number): boolean => measured <= limit;

const rules: Record<string, { accepts: (rule: Json) => boolean; check: Rule }> = {
  type: {
    accepts: (rule) => texts(rule).length > 0 && texts(rule).every((type) => Object.hasOwn(typeOf, type)),
    check: (rule, value, path) =>
      texts(rule).some((type) => typeOf[type]?.(value))
        ? undefined
        : `${nameOf(path)} must be of type ${texts(rule).join(' or ')}`,
  },
  enum: {
    accepts: (rule) => Array.isArray(rule) && rule.length > 0 && rule.every(isScalar),
    check: (rule, value, path) =>
      Array.isArray(rule) && rule.includes(value)
        ? undefined
        : `${nameOf(path)} must be one of ${shortened(JSON.stringify(rule))}`,
  },
  const: {
    accepts: isScalar,
    check: (rule, value, path) =>
      rule === value ? undefined : `${nameOf(path)} must be ${shortened(JSON.stringify(rule))}`,
  },
  required: {
    accepts: (rule) => Array.isArray(rule) && rule.every((name) => typeof name === 'string'),
    check: (rule, value, path) => {
      const absent = isObject(value) ? texts(rule).find((name) => !Object.hasOwn(value, name)) : undefined;
      return absent === undefined ? undefined : `${nameOf([...path, absent])} is missing`;
    },
  },
  properties: {
    accepts: (rule) => isObject(rule) && Object.values(rule).every(isObject),
    check: (rule, value, path) => {
      if (!isObject(value) || !isObject(rule)) return undefined;
      return first(Object.entries(rule), ([name, schema]) =>
        Object.hasOwn(value, name) ? mismatch(schema, value[name], [...path, name]) : undefined,
      );
    },
  },
  additionalProperties: {
    accepts: (rule) => typeof rule === 'boolean' || isObject(rule),
    check: (rule, value, path, { properties = {} }) => {
      if (!isObject(value) || !isObject(properties) || rule === true) return undefined;
      const others = Object.keys(value).filter((name) => !Object.hasOwn(properties, name));
      return first(others, (name) =>
        rule === false
          ? `${nameOf([...path, name])} is not allowed`
          : mismatch(rule, value[name], [...path, name]),
      );
    },
  },
  items: {
    accepts: isObject,
    check: (rule, value, path) =>
      Array.isArray(value)
        ? first(value, (item, index) => mismatch(rule, item, [...path, index]))
        : undefined,
  },
  anyOf: {
    accepts: (rule) => Array.isArray(rule) && rule.length > 0 && rule.every(isObject),
    check: (rule, value, path) =>
      Array.isArray(rule) && rule.some((schema) => mismatch(schema, value, path) === undefined)
        ? undefined
        : `${nameOf(path)} fits none of its alternatives`,
  },
  minItems: { accepts: isCount, check: bound(itemsOf, least, (limit) => `have at least ${limit} items`) },
  maxItems: { accepts: isCount, check: bound(itemsOf, most, (limit) => `have at most ${limit} items`) },
  minLength: {
    accepts: isCount,
    check: bound(lengthOf, least, (limit) => `have at least ${limit} characters`),
  },
  maxLength: {
    accepts: isCount,
    check: bound(lengthOf, most, (limit) => `have at most ${limit} characters`),
  },
  minimum: { accepts: isNumber, check: bound(numberOf, least, (limit) => `be at least ${limit}`) },
  maximum: { accepts: isNumber, check: bound(numberOf, most, (limit) => `be at most ${limit}`) },
};

export const schemaKeywords: readonly string[] = Object.keys(rules);

function isScalar(value: Json): boolean {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

/** Why a value cannot be a `schema`; undefined if it can. */
export function schemaProblem(schema: Json): SchemaProblem | undefined {
  let parts = 0;
  const find = (part: Json, path: Path): SchemaProblem | undefined => {
    parts += 1;
    if (parts > mostParts) return { path, why: 'too_large' };
    if (!isObject(part)) return { path, why: 'value' };
    return first(Object.entries(part), ([keyword, rule]) => {
      if (annotations.includes(keyword)) return undefined;
      const known = Object.hasOwn(rules, keyword) ? rules[keyword] : undefined;
      if (!known) return { path: [...path, keyword], keyword, why: 'keyword' };
      if (!known.accepts(rule)) return { path: [...path, keyword], keyword, why: 'value' };
      return first(nested(keyword, rule), ([under, inner]) => find(inner, [...path, keyword, ...under]));
    });
  };
  return find(schema, []);
}

/** The schemas in the value of a keyword. */
function nested(keyword: string, rule: Json): [under: Path, schema: Json][] {
  if (keyword === 'properties' && isObject(rule))
    return Object.entries(rule).map(([name, schema]) => [[name], schema]);
  if (keyword === 'anyOf' && Array.isArray(rule)) return rule.map((schema, index) => [[index], schema]);
  const isSchema = keyword === 'items' || (keyword === 'additionalProperties' && isObject(rule));
  return isSchema ? [[[], rule]] : [];
}

/** Why a text cannot be the output of this work; undefined if it can. */
export function outputProblem(
  { output, schema }: Pick<Step, 'output' | 'schema'>,
  text: string,
): string | undefined {
  if (output !== 'json') return undefined;
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return `it is not JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
  return schema === undefined ? undefined : mismatch(schema, value, []);
}

function mismatch(schema: Json, value: Json, path: Path): string | undefined {
  if (!isObject(schema)) return undefined;
  return first(Object.entries(schema), ([keyword, rule]) =>
    Object.hasOwn(rules, keyword) ? rules[keyword]?.check(rule, value, path, schema) : undefined,
  );
}

/** As a condition writes it: `packages[0].name`; the whole is `the output`. */
const nameOf = (path: Path): string => {
  const name = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('');
  return name === '' ? 'the output' : shortened(name.replace(/^\./, ''));
};

const shortened = (text: string): string =>
  text.length > longestText ? `${text.slice(0, longestText)}…` : text;

function first<T, R>(list: readonly T[], find: (item: T, index: number) => R | undefined): R | undefined {
  for (const [index, item] of list.entries()) {
    const found = find(item, index);
    if (found !== undefined) return found;
  }
  return undefined;
}
