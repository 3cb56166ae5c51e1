import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { StepfastError } from '../errors.ts';
import { WorkflowValidationError } from './diagnostics.ts';
import { loadWorkflowTemplate, loadWorkflowTemplateFromString } from './load-workflow.ts';

const directories: string[] = [];
function directory(): string {
  const made = mkdtempSync(join(tmpdir(), 'stepfast-load-'));
  directories.push(made);
  return made;
}
afterEach(() => {
  for (const each of directories.splice(0)) rmSync(each, { recursive: true });
});

test('[000/12] the loader rejects a template with an invalid context value', () => {
  const invalidYaml = `
name: invalid-context
description: A template
steps:
  - id: step1
    type: action
    context: invalid
    instructions: Do something
`;
  expect(() => loadWorkflowTemplateFromString(invalidYaml)).toThrow(WorkflowValidationError);
});

test.each(['clear', 'compact'])('[000/12] the loader accepts a template with context: %s', (context) => {
  const template = loadWorkflowTemplateFromString(`
name: valid-${context}
description: A template
steps:
  - id: step1
    type: action
    context: ${context}
    instructions: Do something
`);
  expect(template.steps[0]?.context).toBe(context);
});

test('[000/1] a wrong context names the step, the values it may have and the place', () => {
  const load = () =>
    loadWorkflowTemplateFromString(
      'name: x\ndescription: x\nsteps:\n  - { id: step1, type: action, context: invalid, instructions: Do }\n',
    );
  expect(load).toThrow("Step 'step1' context must be 'compact' or 'clear', got 'invalid'");
  expect(load).toThrow(/:4:/);
});

test('[000/1] a wrong context of a sub-step names the sub-step and its loop', () => {
  const load = (context: string) => () =>
    loadWorkflowTemplateFromString(`
name: x
description: x
loops: { build: [{ id: code, context: ${context}, instructions: Do }] }
steps: [{ id: build, type: loop }]
`);
  expect(load('none')).toThrow(
    "Sub-step 'code' of loop 'build' context must be 'compact' or 'clear', got 'none'",
  );
  expect(load('7')).toThrow("Sub-step 'code' of loop 'build' context must be 'compact' or 'clear', got 7");
  expect(load('clear')()).toMatchObject({ loops: { build: [{ context: 'clear' }] } });
});

test('[000/2] a validation error is a StepfastError that carries every diagnostic', () => {
  const error = catchError(() => loadWorkflowTemplateFromString('name: x\nsteps: 3\nfoo: 1\n'));
  expect(error).toBeInstanceOf(StepfastError);
  expect(error).toBeInstanceOf(WorkflowValidationError);
  expect(error).toMatchObject({ name: 'WorkflowValidationError', code: 'invalid_workflow' });
  expect(error.diagnostics.map(({ code }) => code)).toEqual(['no_description', 'wrong_type', 'unknown_key']);
  expect(error.message).toContain('<text>:3:1 error');
  expect(error.message).not.toContain('no description');
});

test('[000/2] a template is loaded from a file, and its errors name the file', () => {
  const file = join(directory(), 'one.yaml');
  writeFileSync(file, 'name: one\ndescription: One\nsteps: [{ id: a, type: action, instructions: Do }]\n');
  expect(loadWorkflowTemplate(file)).toEqual({
    name: 'one',
    description: 'One',
    steps: [{ id: 'a', type: 'action', instructions: 'Do' }],
  });
  writeFileSync(file, 'name: one\n');
  expect(() => loadWorkflowTemplate(file)).toThrow(`${file}:1:1 error`);
});

test('a file that does not exist and a directory are validation errors', () => {
  const here = directory();
  expect(catchError(() => loadWorkflowTemplate(join(here, 'none.yaml'))).diagnostics[0]?.code).toBe(
    'not_found',
  );
  expect(catchError(() => loadWorkflowTemplate(here)).diagnostics[0]?.code).toBe('unreadable');
});

test('a file over 256 KB is refused before it is read', () => {
  const file = join(directory(), 'large.yaml');
  writeFileSync(file, `name: large\n${'#'.repeat(300 * 1024)}`);
  expect(catchError(() => loadWorkflowTemplate(file)).diagnostics[0]?.code).toBe('too_large');
});

test('[000/12] the templates of the seed tests load, whose loop ids do not match their step ids', () => {
  const template = loadWorkflowTemplateFromString(`
name: test
description: Test
loops:
  my_loop:
    - id: sub1
      context: clear
      instructions: Sub step with clear
    - id: sub2
      instructions: Sub step without
steps:
  - id: step1
    type: loop
    context: compact
`);
  expect(template.steps).toEqual([{ id: 'step1', type: 'loop', context: 'compact', loop: 'my_loop' }]);
});

test('a text can be loaded as a base, which needs no steps', () => {
  expect(() => loadWorkflowTemplateFromString('name: base\n')).toThrow('can only be a base');
  expect(loadWorkflowTemplateFromString('name: base\n', { base: true })).toEqual({
    name: 'base',
    description: 'base',
    steps: [],
  });
});

test('extends is found beside the file, by path and by name', () => {
  const here = directory();
  writeFileSync(
    join(here, 'base.yaml'),
    'name: base\ndescription: Base\nsteps: [{ id: a, type: action, instructions: Do }]\n',
  );
  for (const base of ['base', 'base.yaml', './base.yaml']) {
    const file = join(here, 'heir.yaml');
    writeFileSync(file, `name: heir\nextends: ${base}\n`);
    expect(loadWorkflowTemplate(file, { places: [] })).toMatchObject({ name: 'heir', description: 'Base' });
  }
});

test('a workflow extends the one that it hides by taking its name', () => {
  const project = directory();
  const bundled = directory();
  writeFileSync(
    join(bundled, 'go.yaml'),
    'name: go\ndescription: Go\nsteps: [{ id: do, type: action, instructions: Do }]\n',
  );
  const file = join(project, 'go.yaml');
  writeFileSync(file, 'name: go\nextends: go\nsteps: [{ id: do, gate: [{ run: npm test }] }]\n');
  const searchPath = [
    { kind: 'project' as const, directory: project },
    { kind: 'bundled' as const, directory: bundled },
  ];
  expect(loadWorkflowTemplate(file, { places: searchPath }).steps).toEqual([
    { id: 'do', type: 'action', instructions: 'Do', gate: [{ run: 'npm test' }] },
  ]);
});

test('two files that extend each other are an error', () => {
  const here = directory();
  writeFileSync(join(here, 'a.yaml'), 'name: a\nextends: b.yaml\n');
  writeFileSync(join(here, 'b.yaml'), 'name: b\nextends: a.yaml\n');
  expect(catchError(() => loadWorkflowTemplate(join(here, 'a.yaml'))).diagnostics[0]?.code).toBe(
    'extends_cycle',
  );
});

function catchError(run: () => unknown): WorkflowValidationError {
  try {
    run();
  } catch (error) {
    if (error instanceof WorkflowValidationError) return error;
  }
  throw new Error('no WorkflowValidationError was thrown');
}

test('[000/2] a program with checks of its own throws the error with a message', () => {
  const error = new WorkflowValidationError('Step one is not allowed here.');
  expect(error).toMatchObject({ code: 'invalid_workflow', message: 'Step one is not allowed here.' });
  expect(error.diagnostics).toEqual([]);
});

test('[A16] a name finds the bundled workflow, and before it that of the project around the directory', () => {
  expect(loadWorkflowTemplate('feature').name).toBe('feature');
  const here = directory();
  const own = join(here, '.stepfast', 'workflows');
  mkdirSync(own, { recursive: true });
  writeFileSync(
    join(own, 'mine.yaml'),
    'name: feature\ndescription: Mine\nsteps: [{ id: a, type: action, instructions: Do it. }]\n',
  );
  mkdirSync(join(here, 'src', 'deep'), { recursive: true });
  const before = process.cwd();
  try {
    process.chdir(join(here, 'src', 'deep'));
    expect(loadWorkflowTemplate('feature').description).toBe('Mine');
    writeFileSync(
      'plain',
      'name: plain\ndescription: A file\nsteps: [{ id: a, type: action, instructions: Do it. }]\n',
    );
    expect(loadWorkflowTemplate('plain').description).toBe('A file');
    expect(loadWorkflowTemplate('./plain').description).toBe('A file');
  } finally {
    process.chdir(before);
  }
});

test('[A16] an unknown name is an error with the name that was meant', () => {
  const { diagnostics } = catchError(() => loadWorkflowTemplate('featrue'));
  expect(diagnostics).toMatchObject([
    { code: 'not_found', suggestion: expect.stringContaining("'feature'") },
  ]);
  expect(catchError(() => loadWorkflowTemplate('featrue', { places: [] })).diagnostics[0]?.code).toBe(
    'not_found',
  );
});
