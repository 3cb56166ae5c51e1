import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkRun } from './invariants.ts';
import { workflow } from './workflows.ts';

test('every invariant of the machine holds on random workflows and commands', () => {
  let events = 0;
  fc.assert(
    fc.property(workflow, fc.nat(), fc.nat(60), (definition, seed, length) => {
      events += checkRun(definition, seed, length).length;
    }),
    { numRuns: 200 },
  );
  expect(events).toBeGreaterThan(400);
});
