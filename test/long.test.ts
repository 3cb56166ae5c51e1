import { expect, test } from 'vitest';
import { figuresIn, type Outcome, replaysIn, tableOf } from '../scripts/long/outcome.ts';

test("a suite's figures are its last line, or what vitest and Stryker count", () => {
  expect(figuresIn('a table\n{"histories":10,"failures":0}\n')).toEqual({ histories: 10, failures: 0 });
  expect(figuresIn('      Tests  12 passed (12)\n')).toEqual({
    tests: 12,
  });
  expect(figuresIn('All files       |  97.52 |   97.52 |\n')).toEqual({ score: 97.52 });
  expect(figuresIn('it broke\n')).toEqual({});
});

test('what replays a failure is found in any output, once', () => {
  const sim = 'npm run sim -- --only 7';
  const property = "STEPFAST_SEED=3 STEPFAST_PATH=1:0 npx vitest run src/a.test.ts -t 'a'";
  const output = `seed 7: lost\n  ${sim}\n> stepfast@0.1.0 sim\n${property}\nand again\n  ${sim}\n{}`;
  expect(replaysIn(output)).toEqual([sim, property]);
});

test('the table has a line for each suite with its result, time and figures', () => {
  const outcomes: Outcome[] = [
    {
      name: 'sim',
      passed: true,
      seconds: 61,
      tries: 1,
      figures: { histories: 10, by: 'x', failures: 0 },
      replays: [],
    },
    { name: 'bench-mcp', passed: false, seconds: 5, tries: 3, figures: {}, replays: [] },
  ];
  expect(tableOf(outcomes).split('\n')).toEqual([
    'sim        ok         61 s  histories 10, failures 0',
    'bench-mcp  FAILED      5 s (3 tries)',
  ]);
});
