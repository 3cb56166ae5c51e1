import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { workflowJsonSchema } from './json-schema.ts';
import { parseWorkflow } from './parse.ts';

const file = (notify: string) =>
  `name: x\ndescription: x\nnotify: ${notify}\nsteps: [{ id: a, type: action, instructions: Do }]\n`;
const isValid = new Ajv({ strict: false }).compile(workflowJsonSchema());

test.each(['[waiting, ended]', '[budget]', '[]', '[waiting, ended, budget]'])(
  '[L/notify] notify: %s is valid, for validate and in editors',
  (notify) => {
    const { definition, diagnostics } = parseWorkflow(file(notify), { file: 'x.yaml' });
    expect([definition?.notify, diagnostics]).toEqual([parse(notify), []]);
    expect(isValid(parse(file(notify)))).toBe(true);
  },
);

test.each([
  ['[waitng]', 'wrong_value', 'waiting'],
  ['waiting', 'wrong_type', 'notify: [waiting]'],
  ['{ command: "curl example.com" }', 'wrong_type', 'notify: [waiting, ended]'],
])('[L/notify] notify: %s is refused with %s and a suggestion', (notify, code, suggestion) => {
  const { definition, diagnostics } = parseWorkflow(file(notify), { file: 'x.yaml' });
  expect(definition).toBeUndefined();
  expect(diagnostics).toMatchObject([{ code, line: 3 }]);
  expect(diagnostics[0]?.suggestion ?? '').toContain(suggestion);
  expect(isValid(parse(file(notify)))).toBe(false);
});

test('[L/notify] a workflow that extends another may ask for other events, or none', () => {
  const findBase = () => ({ text: file('[waiting]'), file: 'x.yaml' });
  const derived = (more: string) =>
    parseWorkflow(`name: y\ndescription: y\nextends: x\n${more}`, { file: 'y.yaml', findBase }).definition
      ?.notify;
  expect(derived('')).toEqual(['waiting']);
  expect(derived('notify: [ended]\n')).toEqual(['ended']);
  expect(derived('notify: []\n')).toEqual([]);
});
