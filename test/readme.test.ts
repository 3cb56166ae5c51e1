import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const readme = readFileSync(join(import.meta.dirname, '..', 'README.md'), 'utf8');

test('[U17] the README begins with three commands and the recording, then comes the YAML', () => {
  const at = (part: string): number => {
    const index = readme.indexOf(part);
    expect(index, part).toBeGreaterThan(-1);
    return index;
  };
  const order = ['npx stepfast init', 'claude', '/stepfast:go', 'docs/screens/false-done.svg', '```yaml'].map(
    at,
  );
  expect(order).toEqual([...order].sort((a, b) => a - b));
  expect(readme.slice(0, order.at(-1)).split('\n').length).toBeLessThan(40);
  for (const [, picture = ''] of readme.matchAll(/src="(docs\/[^"]+)"/g))
    expect(readFileSync(join(import.meta.dirname, '..', picture), 'utf8')).toContain('<svg');
});
