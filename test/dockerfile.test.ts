import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { validate } from 'dockerfile-utils';
import { expect, test } from 'vitest';

const read = (name: string): string => readFileSync(join(import.meta.dirname, '..', name), 'utf8');
const dockerfile = read('Dockerfile');

test('the Dockerfile has nothing that a linter would say', () => {
  expect(validate(dockerfile).map(({ message, range }) => [range.start.line + 1, message])).toEqual([]);
  expect(validate(`${dockerfile}\nEXPOSE nothing\n`)).not.toEqual([]);
});

test('the Dockerfile has a Node that the package supports, and an unprivileged user', () => {
  const wanted = Number(/(\d+)/.exec(JSON.parse(read('package.json')).engines.node)?.[1]);
  const versions = [...dockerfile.matchAll(/^FROM node:(\d+)/gm)].map(([, major]) => Number(major));
  expect(versions).toHaveLength(2);
  for (const major of versions) expect(major).toBeGreaterThanOrEqual(wanted);
  expect(dockerfile).toContain('\nUSER node\n');
});
