import * as z from 'zod';
import { workflowSchema } from '../schema/index.ts';

interface JsonSchema {
  properties?: Record<string, JsonSchema>;
  additionalProperties?: JsonSchema | false;
  items?: JsonSchema;
  required?: string[];
}

/**
 * JSON Schema draft-07 of a workflow file, for editors. A file that extends another may leave out what its base says, so
 * only the id of a step is required there; the loader checks the merged whole.
 */
export function workflowJsonSchema(): object {
  const { $schema, ...rest } = z.toJSONSchema(workflowSchema, { target: 'draft-07', io: 'input' });
  // Of zod's type for every JSON Schema only these keys are looked at.
  const { properties } = rest as JsonSchema;
  const loop = properties?.loops?.additionalProperties;
  for (const list of [properties?.steps, loop === false ? undefined : loop]) {
    if (list?.items?.required) list.items.required = ['id'];
  }
  return { $schema, title: 'Stepfast workflow', ...rest };
}
