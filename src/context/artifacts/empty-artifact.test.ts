import { expect, test } from 'vitest';
import { createArtifactProject } from '../../../test/kit/artifact-project.ts';

test('[004/1] an empty artifact is missing if it is required, else loaded', async () => {
  using project = createArtifactProject({ 'plan.md': '\n', 'skills/s/SKILL.md': '', 'notes.md': '' });
  const artifacts = await project.load([
    { id: 'plan', type: 'markdown', path: 'plan.md', required: true },
    { id: 's', type: 'skill', path: 'skills/s', required: true },
    { id: 'notes', type: 'markdown', path: 'notes.md' },
  ]);
  expect(artifacts.map(({ content }) => content)).toMatchObject([
    { state: 'missing', source: '@plan.md', why: expect.stringContaining("'plan.md'") },
    { state: 'missing', why: expect.stringContaining("'skills/s/SKILL.md'") },
    { state: 'loaded', text: '' },
  ]);
});
