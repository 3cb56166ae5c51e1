import { describe, expect, test } from 'vitest';
import { costMeter } from '../../test/kit/cpu-time.ts';
import { parseWorkflow } from './parse.ts';

const head = 'name: x\ndescription: x\nsteps: [{ id: a, type: action, instructions: Do }]\n';
const parse = (text: string) => parseWorkflow(text, { file: 'x.yaml' });
const codes = (text: string) => parse(text).diagnostics.map(({ code }) => code);

function quickly<T>(run: () => T): T {
  const spent = costMeter();
  const result = run();
  expect(spent()).toBeLessThan(60);
  return result;
}

describe('a hostile file is refused quickly', () => {
  test('over 256 KB it is not parsed', () => {
    expect(quickly(() => codes(`${head}# ${'x'.repeat(300 * 1024)}`))).toEqual(['too_large']);
    expect(codes(`${head}# ${'é'.repeat(140 * 1024)}`)).toEqual(['too_large']);
  });

  test.each(['[', '{', '{a: ', '- ', '? ', '[{a: '])('nesting with %s is stopped', (part) => {
    expect(
      quickly(() =>
        codes(`a: ${part.repeat(20_000)}`).some((code) => /^(?:too_deep|too_many_values)$/.test(code)),
      ),
    ).toBe(true);
    expect(quickly(() => codes(part.repeat(20_000)))[0]).toBe('too_deep');
  });

  test('nesting by indentation is stopped', () => {
    const text = Array.from({ length: 500 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n');
    expect(quickly(() => codes(text))).toEqual(['too_deep']);
  });

  test('brackets in a text are no nesting', () => {
    expect(codes(head.replace('Do', `"${'['.repeat(500)}"`))).toEqual([]);
    expect(
      codes(
        `name: x\ndescription: |\n  ${'{['.repeat(500)}\nsteps: [{ id: a, type: action, instructions: Do }]\n`,
      ),
    ).toEqual([]);
  });

  test('an alias bomb is refused', () => {
    const levels = Array.from(
      { length: 9 },
      (_, n) => `a${n + 1}: &a${n + 1} [${Array(9).fill(`*a${n}`).join(', ')}]`,
    );
    expect(quickly(() => codes(`a0: &a0 [x]\n${levels.join('\n')}`))).toContain('too_many_values');
    expect(quickly(() => codes(`a: &a x\nb: [${'*a, '.repeat(200)}]`))).toEqual(['too_many_aliases']);
  });

  test('an alias inside its own anchor, and one without an anchor, are errors', () => {
    expect(codes('a: &a [*a]')).toContain('alias');
    expect(codes('a: *b')).toContain('alias');
  });

  test('many keys, many faults and many comments stay cheap', () => {
    const many = (line: (n: number) => string, count: number) =>
      Array.from({ length: count }, (_, n) => line(n)).join('\n');
    for (const text of [
      many((n) => `k${n}: v`, 20_000),
      many((n) => `k${n}: v`, 5_000),
      many(() => 'k: v', 5_000),
      many(() => '- : :', 20_000),
      many(() => '#', 100_000),
      `${head}key_reminders: ['${'{x} '.repeat(50_000)}']`,
      `name: x\nsteps:\n${many((n) => `  - { id: s${n}, type: loop, agent: s${n} }`, 1_500)}`,
    ]) {
      const { diagnostics } = quickly(() => parse(text));
      expect(diagnostics.length).toBeGreaterThan(0);
      expect(diagnostics.length).toBeLessThanOrEqual(200);
    }
  });

  test('keys that could reach a prototype are refused and change nothing', () => {
    for (const key of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']) {
      expect(codes(`${head}${key}: { polluted: true }`)).toEqual(['unknown_key']);
      expect(codes(`${head}variables: { ${key}: true }`)).toEqual(['unknown_key']);
      expect(codes(`${head}"${key}": { polluted: true }`)).toEqual(['unknown_key']);
    }
    expect('polluted' in {}).toBe(false);
  });
});

describe('YAML that a workflow does not know', () => {
  test.each([
    ['tag', `${head}keep: !!bool true`],
    ['tag', `${head}keep: !custom x`],
    ['merge_key', 'a: &a { b: c }\nd: { <<: *a }'],
    ['key_not_string', `${head}1: x`],
    ['key_not_string', `${head}? [a]\n: x`],
    ['duplicate_key', `${head}name: y`],
    ['number', `${head}variables: { a: .inf }`],
    ['number', `${head}variables: { a: 12345678901234567890 }`],
    ['yaml', `${head}---\nname: y`],
    ['yaml', 'name: [x'],
    ['yaml', 'name: "x'],
    ['yaml', 'name: x\n\tfoo: y'],
    ['wrong_type', '- name: x'],
    ['wrong_type', 'just a text'],
  ])('%s (%#)', (code, text) => {
    const found = parse(text).diagnostics.find((diagnostic) => diagnostic.code === code);
    expect(found).toMatchObject({ severity: 'error' });
    expect(found?.line).toBeGreaterThanOrEqual(1);
    expect(found?.column).toBeGreaterThanOrEqual(1);
  });

  test('a duplicated key is shown where it stands the second time', () => {
    expect(parse(`${head}keep: true\nkeep: false`).diagnostics).toMatchObject([
      { code: 'duplicate_key', line: 5, column: 1 },
    ]);
  });

  test('an anchor and its alias are fine', () => {
    const text = `name: x\ndescription: x\nsteps: [{ id: a, type: action, instructions: &do Do it }, { id: b, type: action, instructions: *do }]`;
    expect(parse(text).definition?.steps.map((step) => step.instructions)).toEqual(['Do it', 'Do it']);
  });

  test('words such as yes, on and 007 are read as YAML 1.2 reads them, and minus zero is zero', () => {
    const { definition } = parse(`${head}variables: { a: yes, b: on, c: 007, d: -0, e: 0x10 }`);
    expect(definition?.variables).toEqual({ a: 'yes', b: 'on', c: 7, d: 0, e: 16 });
  });

  test('a byte order mark and Windows line ends change nothing', () => {
    const { definition, diagnostics } = parse(`\uFEFF${head.replaceAll('\n', '\r\n')}`);
    expect(diagnostics).toEqual([]);
    expect(definition?.steps[0]?.instructions).toBe('Do');
  });
});
