import fc from 'fast-check';
import { expect, test } from 'vitest';
import { propertyParameters, replayCommand } from './property.ts';

/** Fails for long lists only, so that the shrunk counterexample has a path of its own. */
const planted = fc.property(fc.array(fc.nat()), (list) => list.length < 4);

function check(env: Record<string, string>) {
  fc.configureGlobal(propertyParameters(env));
  try {
    return fc.check(planted, { numRuns: 500 });
  } finally {
    fc.configureGlobal(propertyParameters(process.env));
  }
}

test('the seed is fixed unless random ones are asked for', () => {
  expect(check({}).seed).toBe(check({}).seed);
  const random = Array.from({ length: 3 }, () => check({ STEPFAST_RANDOM_SEEDS: '1' }).seed);
  expect(new Set(random).size).toBeGreaterThan(1);
});

test('[R9] a failure with a random seed is replayed by the variables of its command', () => {
  const found = check({ STEPFAST_RANDOM_SEEDS: '1' });
  expect(found.failed).toBe(true);
  const command = replayCommand(found, 'src/a.test.ts', "a > b's [1]");
  expect(command).toMatch(
    /^STEPFAST_SEED=\S+ STEPFAST_PATH=\S+ npx vitest run src\/a.test.ts -t 'a . b.s .1.'$/,
  );
  const env = Object.fromEntries(
    [...command.matchAll(/(STEPFAST_\w+)=(\S+)/g)].map(([, key, value]) => [key, value]),
  );
  const again = check(env);
  expect(again).toMatchObject({ failed: true, numRuns: 1, numShrinks: 0, seed: found.seed });
  expect(again.counterexample).toEqual(found.counterexample);
});

test('a failing property says how it is replayed', () => {
  expect(() => fc.assert(planted)).toThrow(
    /\nSTEPFAST_SEED=\d+ STEPFAST_PATH=\S+ npx vitest run test\/kit\/property.test.ts -t 'a failing property says how it is replayed'\n/,
  );
});
