import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkTool } from '../hosts/index.ts';
import { formatDiagnostic } from './diagnostics.ts';
import { parseWorkflow } from './parse.ts';

const corpus = process.env.STEPFAST_CORPUS;
const errorsOf = (text: string, file: string, base = false) =>
  parseWorkflow(text, { file, base, checkTool })
    .diagnostics.filter(({ severity }) => severity === 'error')
    .map(formatDiagnostic);

if (corpus === undefined) {
  test.skip('not run: STEPFAST_CORPUS is not set, so the workflow files of others are not read', () => {});
} else {
  describe('workflow files of others', () => {
    const lanes = join(corpus, 'corpus', 'lanes');
    const files = existsSync(lanes) ? readdirSync(lanes).filter((file) => file.endsWith('.yaml')) : [];

    test('the corpus is there', () => {
      expect(files.length).toBeGreaterThanOrEqual(10);
    });

    test.each(files)('[000/8] %s loads unchanged', (file) => {
      const text = readFileSync(join(lanes, file), 'utf8');
      expect(errorsOf(text, file)).toEqual([]);
      expect(parseWorkflow(text, { file }).definition?.steps.length).toBeGreaterThan(0);
    });

    test('[M6] the sample with phases and pre_steps loads exactly as printed, and runs with a name', () => {
      const seeds = join(corpus, 'seeds');
      const seed = readdirSync(seeds).find((each) => each.startsWith('004_')) ?? '';
      const blocks = [...readFileSync(join(seeds, seed), 'utf8').matchAll(/```json\n(.*?)```/gs)];
      const [, sample = ''] = blocks.find(([, text = '']) => text.includes('pre_steps')) ?? [];
      expect(errorsOf(sample, 'default.json', true)).toEqual([]);
      const named = JSON.stringify({ id: 'mine', description: 'Mine', ...JSON.parse(sample) });
      expect(parseWorkflow(named, { file: 'mine.json' })).toMatchObject({
        diagnostics: [],
        definition: { steps: [{ id: 'auto-reload-context', type: 'action' }, { id: 'frame' }] },
      });
    });

    test('[004/13] the example of the specification loads exactly as printed, as a base', () => {
      const seeds = join(corpus, 'seeds');
      const file = readdirSync(seeds).find((each) => each.startsWith('004_')) ?? '';
      const [, example = ''] = /```json\n(.*?)```/s.exec(readFileSync(join(seeds, file), 'utf8')) ?? [];
      expect(errorsOf(example, 'default.json', true)).toEqual([]);
      const { definition } = parseWorkflow(example, { file: 'default.json', base: true });
      expect(definition).toMatchObject({ name: 'default', steps: [] });
      expect(definition?.critical_artifacts?.always_load).toHaveLength(3);
    });
  });
}
