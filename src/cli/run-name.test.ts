import { expect, test } from 'vitest';
import { withRun } from './run-name.ts';

test.each([
  ['look: stepfast status', 'look: stepfast status --run k3'],
  ['stepfast reject "what is missing"', 'stepfast reject "what is missing" --run k3'],
  ['stepfast advance --at k3:a#1 --output "x"', 'stepfast advance --at k3:a#1 --output "x"'],
  ['stepfast review approve --turns 20', 'stepfast review approve --turns 20 --run k3'],
  ['stepfast repair w-1-k3', 'stepfast repair w-1-k3'],
  ['stepfast status --run other', 'stepfast status --run other'],
])('%s names the run once', (text, named) => {
  expect(withRun(text, 'k3')).toBe(named);
  expect(withRun(text, undefined)).toBe(text);
});
