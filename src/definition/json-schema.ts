import * as z from 'zod';
import { workflowSchema } from './schema.ts';

/** JSON Schema draft-07 of a workflow file, for editors. */
export function workflowJsonSchema(): object {
  const { $schema, ...rest } = z.toJSONSchema(workflowSchema, { target: 'draft-07', io: 'input' });
  return { $schema, title: 'Stepfast workflow', ...rest };
}
