import * as z from 'zod';

/** Where in a value the first problem is, and what it is; undefined if the schema accepts the value. */
export function problemIn(schema: z.core.$ZodType, value: unknown): string | undefined {
  const [issue] = z.safeParse(schema, value).error?.issues ?? [];
  return issue && (described(schema, value, issue) ?? ` is not valid: ${issue.message}`);
}

function described(schema: z.core.$ZodType, value: unknown, issue: z.core.$ZodIssue): string | undefined {
  if (schema instanceof z.ZodExactOptional) return problemIn(schema.unwrap(), value);
  if (schema instanceof z.ZodObject) return problemInObject(schema, value);
  if (schema instanceof z.ZodArray) return problemInList(schema, value, issue);
  if (schema instanceof z.ZodUnion) return problemIn(schema.options.at(-1) ?? schema, value);
  if (schema instanceof z.ZodNumber) {
    if (schema.isInt && !Number.isSafeInteger(value)) return ' is no whole number';
    return ` is no number from ${schema.minValue} to ${schema.maxValue}`;
  }
  if (schema instanceof z.ZodBoolean) return ' is neither true nor false';
  if (schema instanceof z.ZodLiteral) return ` is not ${schema.value}`;
  if (schema instanceof z.ZodEnum) return ' has a value that is not known';
  if (schema instanceof z.ZodString && !schema.def.error)
    return issue.code === 'too_big' ? ` is longer than ${issue.maximum} characters` : ' is no text';
  return issue.message;
}

function problemInObject({ shape }: z.ZodObject, value: unknown): string | undefined {
  if (!isObject(value)) return ' is no object';
  const unknown = Object.keys(value).find((key) => !Object.hasOwn(shape, key));
  if (unknown !== undefined) return `.${unknown.slice(0, 40)} is not known here`;
  for (const [key, field] of Object.entries(shape)) {
    const isMissing = !Object.hasOwn(value, key);
    if (isMissing && field instanceof z.ZodExactOptional) continue;
    const problem = isMissing ? ' is missing' : problemIn(field, value[key]);
    if (problem !== undefined) return `.${key}${problem}`;
  }
  return undefined;
}

function problemInList({ element }: z.ZodArray, value: unknown, issue: z.core.$ZodIssue): string | undefined {
  if (!Array.isArray(value)) return ' is no list';
  if (issue.path.length === 0 && issue.code === 'too_big') return ` has more than ${issue.maximum} entries`;
  for (const [index, each] of value.entries()) {
    const problem = problemIn(element, each);
    if (problem !== undefined) return `[${index}]${problem}`;
  }
  return undefined;
}

/**
 * A record that is kept as it came, so that each of its keys is checked: `z.record` skips one named `__proto__`.
 * The message of its issue is what `problemIn` returns.
 */
export const checkedRecord = <V>(values: z.ZodType<V>, most: number): z.ZodType<Record<string, V>> =>
  z.custom<Record<string, V>>(isObject, ' is no object').superRefine((record, context) => {
    const entries = Object.entries(record);
    const report = (message: string): void => context.addIssue({ code: 'custom', message });
    if (entries.length > most) return report(` has more than ${most} entries`);
    for (const [key, value] of entries) {
      const problem = key.length > 1000 ? ' has a name that is too long' : problemIn(values, value);
      if (problem !== undefined) return report(`.${key.slice(0, 40)}${problem}`);
    }
  });

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
