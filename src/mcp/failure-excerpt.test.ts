import { expect, it } from 'vitest';
import { failureExcerpt } from './failure-excerpt.ts';

const summary = Array.from({ length: 60 }, (_, index) => `  covered src/file-${index}.ts | 100 | 100 |`);

it.each([
  [' FAIL  src/sum.test.ts > adds', 'AssertionError: expected 3 to be 4'],
  ['✖ adds (1.2ms)', '  + actual: 3'],
  ['not ok 7 - adds', '  ---'],
  ["src/sum.ts(3,5): error TS2322: Type 'string' is not assignable", 'Found 1 error.'],
])('an output with %j deep inside is told by the lines around it', (line, after) => {
  const kept = failureExcerpt([...summary, line, after, ...summary].join('\n'), 100);
  expect(kept).toContain(`${line}\n${after}`);
});

it('an output that fits stays whole, and one that names no failure gives its end', () => {
  expect(failureExcerpt('Error: no\n\nend\n', 60)).toBe('Error: no\n\nend');
  expect(failureExcerpt(`${summary.join('\n')}\nend`, 30)).toMatch(/file-59.*\nend$/);
});
