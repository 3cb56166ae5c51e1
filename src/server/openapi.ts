import * as z from 'zod';
import type { Route } from './route.ts';

/** OpenAPI 3.1 uses JSON Schema, which zod generates. */
export function openApi(routes: readonly Route[], about: { version: string; url: string }): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Stepfast', version: about.version, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: about.url }],
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: { Error: errorSchema },
    },
  };
}

const errorSchema = {
  type: 'object',
  properties: { code: { type: 'string' }, message: { type: 'string' }, next: { type: 'string' } },
  required: ['code', 'message'],
};

function operationOf({ summary, scope, params, query, body, answer, method, path }: Route): object {
  const description = scope === 'any' ? 'Any token.' : `Requires the scope \`${scope}\`.`;
  const parameters = [...parametersOf(params, 'path'), ...parametersOf(query, 'query')];
  return {
    operationId: `${method.toLowerCase()}${path.replace(/[/:](\w?)/g, (_, first: string) => first.toUpperCase())}`,
    summary,
    description,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: { required: true, content: json(schemaOf(body, 'input')) } } : {}),
    responses: {
      ...responseOf(answer),
      default: {
        description: 'Error',
        content: json({ $ref: '#/components/schemas/Error' }),
      },
    },
  };
}

function responseOf(answer: Route['answer']): object {
  if (answer === 'nothing') return { 204: { description: 'No content' } };
  if (answer === 'text' || answer === 'events') {
    const type = answer === 'text' ? 'text/plain' : 'text/event-stream';
    return { 200: { description: 'OK', content: { [type]: { schema: { type: 'string' } } } } };
  }
  return { 200: { description: 'OK', content: json(schemaOf(answer, 'output')) } };
}

const json = (schema: object): object => ({ 'application/json': { schema } });

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): object {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
}

function parametersOf(schema: z.ZodType | undefined, location: 'path' | 'query'): object[] {
  if (!schema) return [];
  const written = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const shapes = written.anyOf ?? [written];
  return shapes.flatMap((shape) =>
    Object.entries(typeof shape === 'object' ? (shape.properties ?? {}) : {}).map(([name, value]) => ({
      name,
      in: location,
      required: location === 'path',
      schema: value,
    })),
  );
}
