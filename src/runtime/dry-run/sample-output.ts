import type { Step } from '../../machine/index.ts';

type Schema = Record<string, unknown>;

/** An output that the work accepts: made up from its schema, so that conditions on its parts can be decided. */
export const sampleOutput = ({ output, schema }: Pick<Step, 'output' | 'schema'>, text: string): string =>
  output === 'json' ? JSON.stringify(sample(schema ?? { type: 'object' })) : text;

function sample(schema: Schema): unknown {
  const { enum: allowed, const: only, anyOf, properties = {}, items = {} } = schema;
  if (only !== undefined) return only;
  if (Array.isArray(allowed)) return allowed[0];
  if (Array.isArray(anyOf)) return sample(anyOf[0]);
  const minimum = Number(schema.minimum ?? Math.min(1, Number(schema.maximum ?? 1)));
  switch ([schema.type].flat()[0]) {
    case 'array': {
      const length = Number(schema.minItems ?? Math.min(1, Number(schema.maxItems ?? 1)));
      // The schema was checked when the workflow was loaded.
      return Array.from({ length }, () => sample(items as Schema));
    }
    case 'string':
      return 'sample'
        .padEnd(Number(schema.minLength ?? 0), '.')
        .slice(0, Number(schema.maxLength ?? undefined) || undefined);
    case 'integer':
      return Math.ceil(minimum);
    case 'number':
      return minimum;
    case 'boolean':
      return true;
    case 'null':
      return null;
    default: {
      const known = Object.entries(properties as Record<string, Schema>);
      const absent = [schema.required ?? []]
        .flat()
        .filter((name) => !Object.hasOwn(properties as object, name as string));
      return Object.fromEntries([
        ...absent.map((name): [string, unknown] => [String(name), 'sample']),
        ...known.map(([name, each]): [string, unknown] => [name, sample(each)]),
      ]);
    }
  }
}
