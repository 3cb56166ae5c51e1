import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { samplesOf } from '../lab/seeds/extract.ts';
import { rows, withTable } from '../lab/seeds/table.ts';

test('the samples in docs/requirements.md are those of the table: npm run seeds -- --write', () => {
  const page = readFileSync(join(import.meta.dirname, '..', 'docs', 'requirements.md'), 'utf8');
  expect(page).toBe(withTable(page));
});

test('each sample is in the table once, and at most one in ten is excused with a reason', () => {
  const ids = rows.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { id, digest } of rows) {
    expect(id).toMatch(/^00[0-4]\/(?:block|command|file)-\d+$/);
    expect(digest).toMatch(/^[0-9a-f]{8}$/);
  }
  const excuses = rows.flatMap(({ check }) => ('excuse' in check ? [check.excuse] : []));
  expect(excuses.length).toBeLessThanOrEqual(rows.length / 10);
  for (const excuse of excuses) expect(excuse).toMatch(/^[A-Z].{20,}\.$/);
});

test('blocks, commands and file names of a document get ids from their place', () => {
  const document = [
    'Run: `npm test` and read `docs/plan.md`, then run `npm test` again. Call `workflow_start`.',
    '```yaml',
    'steps: []',
    '```',
    '   ```bash',
    '   # first machine',
    '   me@a$ /tool:run 1',
    '   node -e "',
    '   1 + 1',
    '   "',
    '   ```',
    '```json',
    '{ "path": ".state/{run_id}.json" }',
    '```',
    'See `plans/*/PLAN.md`, `./kept/{name}/` and Node.js.',
    '',
  ].join('\n');
  const found = samplesOf('009', document);
  expect(found.map(({ id, text }) => [id, text])).toEqual([
    ['009/block-1', 'steps: []\n'],
    ['009/block-2', '{ "path": ".state/{run_id}.json" }\n'],
    ['009/command-1', '/tool:run 1'],
    ['009/command-2', 'node -e "\n1 + 1\n"'],
    ['009/command-3', 'npm test'],
    ['009/command-4', 'workflow_start'],
    ['009/file-1', 'docs/plan.md'],
    ['009/file-2', 'plans/*/PLAN.md'],
    ['009/file-3', 'kept/{name}/'],
    ['009/file-4', '.state/{run_id}.json'],
  ]);
  expect(found[0]?.digest).not.toBe(samplesOf('009', document.replace('[]', '[a]'))[0]?.digest);
});
