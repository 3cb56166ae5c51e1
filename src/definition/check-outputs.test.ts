import { expect, test } from 'vitest';
import { definitionProblem } from './check-resolved.ts';
import { parseWorkflow } from './parse.ts';

const file = (
  texts: { plan?: string; code?: string; check?: string; polish?: string; end?: string },
  gate = '',
) => `name: x
description: x
steps:
  - { id: plan, type: action, instructions: "${texts.plan ?? 'Plan'}" }
  - { id: build, type: loop }
  - { id: polish, type: ralph, n: 2, instructions: "${texts.polish ?? 'Polish'}" }
  - { id: end, type: action, instructions: "${texts.end ?? 'End'}"${gate} }
loops:
  build:
    - { id: code, instructions: "${texts.code ?? 'Code'}" }
    - { id: check, instructions: "${texts.check ?? 'Check'}" }
`;

const found = (text: string) =>
  parseWorkflow(text, { file: 'x.yaml' }).diagnostics.map(({ severity, code, suggestion }) => [
    severity,
    code,
    suggestion,
  ]);

test('A4: the output of a loop is refused, with what to write instead', () => {
  expect(found(file({ end: 'See {outputs.build}' }))).toEqual([
    ['error', 'loop_output', expect.stringContaining('{tasks.build}')],
  ]);
  expect(found(file({}, ', gate: [{ condition: "outputs.build == \'x\'" }]'))).toEqual([
    ['warning', 'loop_output', expect.stringContaining('tasks.build')],
  ]);
  expect(found(file({ end: '{tasks.build} {outputs.build.a.check} {outputs.polish}' }))).toEqual([]);
  expect(found(file({}, ', gate: [{ condition: "tasks.build.all(t, t.output != null)" }]'))).toEqual([]);
});

test('A4: an unknown loop is refused', () => {
  expect(found(file({ end: '{tasks.biuld}' }))).toEqual([
    ['error', 'unknown_placeholder', expect.stringContaining("'build'")],
  ]);
  expect(found(file({}, ', gate: [{ condition: "tasks.biuld != null" }]'))).toEqual([
    ['warning', 'unknown_loop', "Did you mean 'build'?"],
  ]);
});

test('A4: an output that comes later is a warning', () => {
  const warning = [['warning', 'later_output', expect.anything()]];
  expect(found(file({ plan: '{outputs.end}' }))).toEqual(warning);
  expect(found(file({ plan: '{outputs.plan}' }))).toEqual(warning);
  expect(found(file({ code: '{outputs.check}' }))).toEqual(warning);
  expect(found(file({ code: '{outputs.polish}' }))).toEqual(warning);
  expect(found(file({ check: '{outputs.code} {outputs.plan}' }))).toEqual([]);
  expect(found(file({ polish: '{outputs.polish}' }))).toEqual([]);
  expect(found(file({}, ', gate: [{ condition: outputs.end }]'))).toEqual([]);
});

test('A4: a run that was pinned before keeps its definition', () => {
  const steps = [
    { id: 'build', type: 'loop', loop: 'build' },
    { id: 'end', type: 'action', instructions: '{outputs.build}' },
  ];
  const loops = { build: [{ id: 'code', instructions: 'Code' }] };
  expect(definitionProblem({ name: 'x', description: 'x', steps, loops })).toBeUndefined();
});
