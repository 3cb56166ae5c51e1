import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { searchPath } from '../../test/kit/bundled.ts';
import { defineWorkflow, validateWorkflow, type WorkflowInput, writeWorkflow } from './define-workflow.ts';
import { WorkflowValidationError } from './diagnostics.ts';
import { hashDefinition } from './hash-definition.ts';
import { listWorkflows } from './list-workflows.ts';
import { loadWorkflowTemplate, loadWorkflowTemplateFromString } from './load-workflow.ts';

const release: WorkflowInput = {
  name: 'release',
  description: 'Builds a release: "quoted", with a colon',
  inputs: { version: { required: true } },
  loops: {
    notes: [{ id: 'write', instructions: 'Write about {task.title}.\n\nThen check it.', on_fail: 'retry' }],
  },
  steps: [
    { id: 'build', type: 'action', instructions: 'no', gate: [{ run: 'npm test' }, { exists: 'dist' }] },
    { id: 'notes', type: 'loop' },
    {
      id: 'polish',
      type: 'ralph',
      n: 3,
      instructions: '#not a comment',
      until: [{ condition: 'iteration > 1' }],
    },
  ],
};

const bundledNames = listWorkflows(searchPath).flatMap(({ name, base }) => (base ? [] : [name]));
const codesOf = (value: unknown): string[] => validateWorkflow(value).diagnostics.map(({ code }) => code);

describe('[A16] defineWorkflow', () => {
  test('[A16] an object is a definition with its defaults', () => {
    expect(defineWorkflow(release)).toMatchObject({
      loops: { notes: [{ on_fail: { then: 'wait' } }] },
      steps: [{ id: 'build' }, { id: 'notes', loop: 'notes' }, { on_exhausted: 'wait' }],
    });
  });

  test('[A16] it throws all errors of a file at once', () => {
    const wrong = {
      name: 'wrong',
      steps: [
        { id: 'a', type: 'acton' },
        { id: 'a', type: 'loop' },
      ],
      lops: {},
    };
    const text = JSON.stringify(wrong);
    const errors = (value: unknown) =>
      validateWorkflow(value).diagnostics.map(({ code, severity, message }) => ({ code, severity, message }));
    expect(errors(wrong).length).toBeGreaterThan(3);
    const sorted = (value: unknown) =>
      errors(value)
        .map((each) => JSON.stringify(each))
        .sort();
    expect(sorted(wrong)).toEqual(sorted(text));
    // The type would refuse it.
    const define = () => defineWorkflow(wrong as unknown as WorkflowInput);
    expect(define).toThrow(WorkflowValidationError);
    expect(define).toThrow(expect.objectContaining({ code: 'invalid_workflow' }));
  });

  test('[A16] the type refuses what the schema refuses', () => {
    // @ts-expect-error: there is no such type of step
    const step: NonNullable<WorkflowInput['steps']>[number] = { id: 'a', type: 'acton' };
    // @ts-expect-error: a workflow has a name
    const nameless: WorkflowInput = { steps: [] };
    expect([step.id, nameless.steps]).toEqual(['a', []]);
  });

  test('[A16] extends finds workflows by name, and no files', () => {
    const extended = defineWorkflow({ name: 'mine', description: 'Mine', extends: 'bugfix' });
    expect(extended.steps.map(({ id }) => id)).toEqual(
      loadWorkflowTemplate('bugfix').steps.map(({ id }) => id),
    );
    expect(codesOf({ name: 'mine', extends: './workflows/bugfix.yaml' })).toContain('unknown_base');
    expect(codesOf({ name: 'mine', extends: 'no-such-workflow' })).toContain('unknown_base');
  });
});

describe('[A16] validateWorkflow', () => {
  test('[A16] a text and an object with the same meaning have the same hash', () => {
    const { definition, hash, diagnostics } = validateWorkflow(release);
    expect(diagnostics).toEqual([]);
    expect(definition).toEqual(defineWorkflow(release));
    expect(validateWorkflow(JSON.stringify(release)).hash).toBe(hash);
    expect(loadWorkflowTemplateFromString(JSON.stringify(release))).toEqual(definition);
  });

  test('[A16] it never throws, whatever the value', () => {
    const circle: Record<string, unknown> = { name: 'x' };
    circle.steps = [circle];
    const throwing = {
      get name(): string {
        throw new Error('no');
      },
    };
    let deep: unknown = [];
    for (let depth = 0; depth < 50_000; depth += 1) deep = [deep];
    for (const value of [
      undefined,
      null,
      1,
      1n,
      Symbol('x'),
      [],
      () => 1,
      circle,
      throwing,
      deep,
      new Map(),
    ]) {
      const { definition, diagnostics } = validateWorkflow(value);
      expect(definition).toBeUndefined();
      expect(diagnostics.some(({ severity }) => severity === 'error')).toBe(true);
    }
  });

  test('[A16] values that no file can hold are errors', () => {
    const { steps = [] } = release;
    for (const instructions of [() => 'x', Symbol('x'), 1n])
      expect(codesOf({ ...release, steps: [...steps, { id: 'z', type: 'action', instructions }] })).toContain(
        'not_plain',
      );
    const shared = [{ run: 'npm test' }];
    const twice = ['a', 'b'].map((id) => ({ id, type: 'action', instructions: 'Do it.', gate: shared }));
    expect(codesOf({ name: 'twice', description: 'x', steps: twice, agents: undefined })).toEqual([]);
  });
});

describe('[A16] writeWorkflow', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'stepfast-write-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  test('[A16] what it writes is YAML that reads back with the same hash', () => {
    const file = join(directory, '.stepfast', 'workflows', 'release.yaml');
    writeWorkflow(file, release);
    expect(readFileSync(file, 'utf8')).toMatch(/^name: release\n/);
    expect(loadWorkflowTemplate(file)).toEqual(defineWorkflow(release));
  });

  test.each(bundledNames)('[A16] %s reads back with the same hash', (name) => {
    const file = join(directory, 'copy.yml');
    const definition = loadWorkflowTemplate(name);
    writeWorkflow(file, definition);
    expect(hashDefinition(loadWorkflowTemplate(file))).toBe(hashDefinition(definition));
  });

  test('[A16] it writes nothing for an invalid workflow or a file that is not YAML', () => {
    const wrong = { name: 'wrong', description: 'x', steps: [] };
    expect(() => writeWorkflow(join(directory, 'a.yaml'), wrong)).toThrow(WorkflowValidationError);
    expect(() => writeWorkflow(join(directory, 'a.txt'), release)).toThrow(
      expect.objectContaining({ code: 'bad_option' }),
    );
    expect(readdirSync(directory)).toEqual([]);
  });

  test('[A16] extends is written as it is and found from the file', () => {
    const base = join(directory, 'base.yaml');
    writeWorkflow(base, { ...release, name: 'base' });
    writeWorkflow(join(directory, 'mine.yaml'), { name: 'mine', description: 'x', extends: './base.yaml' });
    expect(loadWorkflowTemplate(join(directory, 'mine.yaml')).steps).toEqual(defineWorkflow(release).steps);
  });
});
