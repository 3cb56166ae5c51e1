import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { workflowJsonSchema } from './json-schema.ts';

test('[004/9] the published workflow.schema.json is current', () => {
  const file = join(import.meta.dirname, '..', '..', 'schema', 'workflow.schema.json');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(JSON.parse(JSON.stringify(workflowJsonSchema())));
});

test('every key of a workflow file is described', () => {
  const missing: string[] = [];
  const walk = (schema: unknown, path: string): void => {
    if (typeof schema !== 'object' || schema === null) return;
    for (const [key, value] of Object.entries(schema)) {
      if (key === 'properties' && typeof value === 'object' && value !== null) {
        for (const [name, property] of Object.entries<{ description?: unknown }>({ ...value })) {
          if (typeof property.description !== 'string') missing.push(`${path}.${name}`);
        }
      }
      walk(value, key === 'properties' || key === 'items' ? path : `${path}.${key}`);
    }
  };
  walk(workflowJsonSchema(), '');
  expect(missing).toEqual([]);
});

test('it is draft-07, has a title, no address of its own, and refuses unknown keys', () => {
  const schema = workflowJsonSchema();
  expect(schema).toMatchObject({
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Stepfast workflow',
    additionalProperties: false,
  });
  expect(schema).not.toHaveProperty('$id');
});
