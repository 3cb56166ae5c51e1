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
 * only the id of a step is required there; the loader checks the merged whole. What spans several keys of one object is
 * added here; what spans several objects only the loader can check.
 */
export function workflowJsonSchema(): object {
  const { $schema, ...rest } = z.toJSONSchema(workflowSchema, { target: 'draft-07', io: 'input' });
  // Of zod's type for every JSON Schema only these keys are looked at.
  const root = rest as JsonSchema;
  const step = at(root, 'steps')?.items;
  const subStep = mapValues(at(root, 'loops'))?.items;
  for (const each of [step, subStep]) {
    if (each) each.required = ['id'];
    add(each, { allOf: each === step ? [...stepRules, oneCount] : [oneCount] });
    for (const list of [at(each, 'gate'), at(each, 'until')]) refineGate(list?.items);
  }
  for (const list of ['always_load', 'conditional_load'])
    refineArtifact(at(at(root, 'critical_artifacts'), list)?.items);
  add(at(root, 'required_reading')?.items, { pattern: '^@.' });
  for (const key of ['todo_path', 'state_mirror']) add(at(root, key), { pattern: `${inside}${below}` });
  add(mapValues(at(root, 'inputs')), { allOf: ['string', 'number', 'boolean'].map(defaultOf) });
  return { $schema, title: 'Stepfast workflow', ...rest, ...named, ...withoutBase };
}

const at = (schema: JsonSchema | undefined, key: string): JsonSchema | undefined => schema?.properties?.[key];

const mapValues = (schema: JsonSchema | undefined): JsonSchema | undefined =>
  schema?.additionalProperties || undefined;

function add(schema: JsonSchema | undefined, rule: object): void {
  if (schema) Object.assign(schema, rule);
}

/** Relative, and without a way out of the project. */
const inside = '^(?![/\\\\~]|[A-Za-z]:)(?!(?:.*[/\\\\])?\\.\\.(?:[/\\\\]|$))';

/** Not the root itself. */
const below = '(?!(?:\\.?[/\\\\])*\\.?$)';

const exactlyOne = (keys: readonly string[]) => keys.map((key) => ({ required: [key] }));
const refused = (keys: readonly string[]) => Object.fromEntries(keys.map((key) => [key, false]));
const isOf = (...types: string[]) => ({ properties: { type: { enum: types } }, required: ['type'] });

const ofRalph = ['n', 'until', 'on_exhausted'];
const ofLoop = ['loop', 'parallel', 'merge_gate'];
const notOnLoop = ['gate', 'review', 'on_fail', 'attempts', 'read_only'];

const stepRules = [
  { if: isOf('action'), then: { properties: refused([...ofRalph, ...ofLoop]) } },
  { if: isOf('ralph'), then: { properties: refused(ofLoop) } },
  { if: isOf('loop'), then: { properties: refused([...ofRalph, ...notOnLoop]) } },
];

const oneCount = {
  if: { properties: { on_fail: { type: 'object' } }, required: ['on_fail'] },
  then: { properties: { attempts: false } },
};

const ofRun = ['expect', 'contains', 'paths', 'writes', 'timeout'];

function refineGate(gate: JsonSchema | undefined): void {
  add(gate, {
    oneOf: exactlyOne(['run', 'exists', 'condition', 'read']),
    dependencies: Object.fromEntries(ofRun.map((key) => [key, ['run']])),
    if: { required: ['expect'] },
    then: { properties: { rerun: { const: false } } },
  });
  add(at(gate, 'exists'), { pattern: inside });
  add(at(gate, 'read')?.items, { pattern: `^(?!@)${inside.slice(1)}` });
  for (const key of ['paths', 'writes']) add(at(gate, key)?.items, { pattern: inside });
}

function refineArtifact(artifact: JsonSchema | undefined): void {
  const origins = exactlyOne(['path', 'path_from_state', 'command']);
  add(artifact, {
    if: isOf('git_info'),
    then: { oneOf: [{ not: { anyOf: origins } }, ...origins] },
    else: { oneOf: origins },
  });
  add(at(artifact, 'path'), { pattern: inside });
  add(at(artifact, 'command'), { pattern: '^/' });
}

const defaultOf = (type: string) => ({
  if: { properties: { type: { const: type } }, required: ['type'] },
  then: {
    properties: {
      default: { type },
      enum: { items: { type } },
      ...(type === 'string' ? {} : refused(['pattern'])),
    },
  },
});

const named = { oneOf: exactlyOne(['name', 'id']) };

/** Nothing is inherited, so every step is whole. */
const withoutBase = {
  if: { not: { required: ['extends'] } },
  then: {
    properties: {
      remove: false,
      steps: {
        items: {
          required: ['id', 'type'],
          if: isOf('action', 'ralph'),
          then: { required: ['instructions'] },
          dependencies: { on_exhausted: ['until'] },
        },
      },
      loops: { additionalProperties: { items: { required: ['id', 'instructions'] } } },
    },
  },
};
