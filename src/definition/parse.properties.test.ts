import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileCondition } from './evaluate-condition.ts';
import { parseWorkflow } from './parse.ts';

const id = fc
  .stringMatching(/^[a-z][a-z0-9_-]{0,8}$/)
  .filter((each) => !(each in Object.prototype) && each !== 'prototype');
const line = fc
  .string({ minLength: 1, maxLength: 40 })
  .filter((each) => each.trim() !== '' && !/[{}]/.test(each));
const step = fc.record(
  {
    id,
    type: fc.constantFrom('action', 'ralph'),
    instructions: line,
    context: fc.constantFrom('clear', 'compact'),
    artefacts: fc.boolean(),
    attempts: fc.integer({ min: 1, max: 100 }),
    gate: fc.array(fc.record({ exists: line.map((name) => `docs/${name.replaceAll(/[/\\]|\.\./g, '-')}`) }), {
      minLength: 1,
      maxLength: 3,
    }),
  },
  { requiredKeys: ['id', 'type', 'instructions'] },
);
const workflow = fc.record(
  {
    name: id,
    description: line,
    steps: fc.uniqueArray(step, { selector: (each) => each.id, minLength: 1, maxLength: 6 }),
    key_reminders: fc.array(line, { maxLength: 3 }),
    variables: fc.dictionary(id, fc.oneof(line, fc.integer(), fc.boolean())),
    keep: fc.boolean(),
  },
  { requiredKeys: ['name', 'description', 'steps'] },
);

test('any text is answered with diagnostics, never with an exception', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.json(),
        fc.stringMatching(/^[-\s:\w{}[\]&*!|>'"#%@,?]{0,60}$/),
      ),
      (text) => {
        const { definition, diagnostics } = parseWorkflow(text, { file: 'x' });
        expect(definition === undefined).toBe(diagnostics.some(({ severity }) => severity === 'error'));
        for (const { line: at, column } of diagnostics)
          expect(Math.min(at, column)).toBeGreaterThanOrEqual(1);
      },
    ),
  );
});

test('a valid workflow keeps every value that was written, and its hash does not depend on the order of keys', () => {
  fc.assert(
    fc.property(workflow, (written) => {
      const { definition, hash } = parseWorkflow(JSON.stringify(written), { file: 'x' });
      expect(definition).toMatchObject(JSON.parse(JSON.stringify(written)));
      const reversed = Object.fromEntries(Object.entries(written).reverse());
      expect(parseWorkflow(JSON.stringify(reversed, null, 2), { file: 'y' }).hash).toBe(hash);
      expect(parseWorkflow(JSON.stringify(definition), { file: 'z' }).hash).toBe(hash);
    }),
  );
});

test('any condition compiles or says why not, and reads nothing through a prototype', () => {
  const word = fc.constantFrom(
    'state',
    'outputs',
    'iteration',
    '.a',
    '.constructor',
    '["__proto__"]',
    '==',
    '&&',
    '(',
    ')',
    '1',
    '"x"',
    'null',
    '!',
    ' ',
    '.size()',
    'has(',
    '[',
    ']',
    ',',
    '.all(i, i',
    '?',
    ':',
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 12 }), (words) => {
      const condition = compileCondition(words.join(''));
      if (!condition.ok) {
        expect(condition.message).not.toBe('');
        return;
      }
      try {
        expect(typeof condition.evaluate({ state: { a: [1] }, outputs: {}, iteration: 1 })).toBe('boolean');
      } catch (error) {
        expect(error).toMatchObject({ code: 'condition_failed' });
      }
    }),
    { numRuns: 500 },
  );
});
