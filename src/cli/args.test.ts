import { expect, test } from 'vitest';
import { nearest } from '../suggest.ts';
import { readArgs } from './args.ts';

const options = { json: { type: 'boolean' }, format: { type: 'string', short: 'f' } } as const;

test('options and files may stand in any order', () => {
  const { values, positionals } = readArgs(['a.yaml', '--json', '-f', 'svg', 'b.yaml'], options);
  expect({ ...values }).toEqual({ json: true, format: 'svg' });
  expect(positionals).toEqual(['a.yaml', 'b.yaml']);
});

test('after -- everything is a file', () => {
  expect(readArgs(['--', '--json'], options).positionals).toEqual(['--json']);
});

test('a misspelt option is refused with the right one', () => {
  expect(() => readArgs(['--jsno'], options)).toThrow("There is no option '--jsno'. Did you mean '--json'?");
});

test('an option without its value is refused', () => {
  expect(() => readArgs(['--format'], options)).toThrow(/argument missing/);
});

test('too few and too many arguments are refused', () => {
  expect(() => readArgs([], options, { min: 1, what: 'workflow' })).toThrow('No workflow is given.');
  expect(() => readArgs(['a', 'b'], options, { max: 1 })).toThrow("'b' is an unexpected argument.");
});

test('a usage error has its own code', () => {
  expect(() => readArgs(['--x'], options)).toThrow(expect.objectContaining({ code: 'usage' }));
});

test('the closest word is at most two slips away', () => {
  expect(nearest('grpah', ['validate', 'list', 'graph'])).toBe('graph');
  expect(nearest('sgv', ['tree', 'svg'])).toBe('svg');
  expect(nearest('deploy', ['validate', 'list', 'graph'])).toBeUndefined();
  expect(nearest('x', ['ab'])).toBeUndefined();
});

test('a text that begins with a dash and a space is no option', () => {
  const { values, positionals } = readArgs(['- [ ] milk', '--output', '-- done\n- all'], {
    output: { type: 'string' },
  });
  expect({ values: { ...values }, positionals }).toEqual({
    values: { output: '-- done\n- all' },
    positionals: ['- [ ] milk'],
  });
});
