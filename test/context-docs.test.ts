import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { explainSvg } from '../src/cli/prime/explain-svg.ts';
import { loadWorkflowFile, workflowJsonSchema } from '../src/definition/index.ts';
import { leastBriefing } from '../src/machine/index.ts';
import { shownBriefing } from './kit/briefing.ts';

const docs = resolve(import.meta.dirname, '../docs');
const page = readFileSync(join(docs, 'context.md'), 'utf8');

test('[004/12] the picture of a briefing and its text are those of the compiler; npm test -- -u draws it anew', async () => {
  const cap = { tokens: leastBriefing.tokens };
  const briefing = shownBriefing(cap);
  await expect(explainSvg(briefing, cap)).toMatchFileSnapshot(join(docs, 'briefing.svg'));
  const [, shown] = /^`{5}text briefing\n(.*?)^`{5}$/ms.exec(page) ?? [];
  expect(shown).toBe(`${briefing.text}\n`);
});

test('[004/12] the page has every type and trigger of critical artifacts, and its YAML loads', () => {
  const { properties } = workflowJsonSchema() as { properties: Record<string, object> };
  const types = /"enum":(\["json"[^\]]*\])/.exec(JSON.stringify(properties))?.[1] ?? '[]';
  expect(JSON.parse(types)).toHaveLength(6);
  for (const type of JSON.parse(types)) expect(page).toMatch(new RegExp(`^\\| .*\`${type}\``, 'm'));
  for (const trigger of [
    'session_start',
    'phase_start:X',
    'phase_transition',
    'phase_transition:A->B',
    'manual',
  ])
    expect(page).toMatch(new RegExp(`^\\| .*\`${trigger}\``, 'm'));
  const yaml = /^```yaml\n(.*?)^```$/ms.exec(page)?.[1] ?? '';
  const steps =
    'steps:\n  - { id: architect, type: action, instructions: a }\n  - { id: build, type: action, instructions: b }\n';
  const directory = mkdtempSync(join(tmpdir(), 'stepfast-docs-'));
  try {
    const file = join(directory, 'w.yaml');
    writeFileSync(file, `name: w\ndescription: x\nvariables: { plan_id: p }\n${yaml}${steps}`);
    expect(loadWorkflowFile(file, { places: [] }).diagnostics).toEqual([]);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
