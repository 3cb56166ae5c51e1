import { expect, test } from 'vitest';
import { createArtifactProject } from '../../../test/kit/artifact-project.ts';

test('[004/1] a required artifact that is empty is missing; another is only empty', async () => {
  using trial = createArtifactProject({ 'plan.md': '\n', 'skills/s/SKILL.md': '', 'notes.md': '' });
  const artifacts = await trial.load([
    { id: 'plan', type: 'markdown', path: 'plan.md', required: true },
    { id: 's', type: 'skill', path: 'skills/s', required: true },
    { id: 'notes', type: 'markdown', path: 'notes.md' },
  ]);
  expect(artifacts.map(({ content }) => content)).toMatchObject([
    { state: 'missing', source: '@plan.md', why: "'plan.md' of 'plan' is empty: write it." },
    { state: 'missing', why: "'skills/s/SKILL.md' of 's' is empty: write it." },
    { state: 'loaded', text: '' },
  ]);
});
