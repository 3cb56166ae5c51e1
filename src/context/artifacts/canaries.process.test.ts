import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { createArtifactProject, sampleState } from '../../../test/kit/artifact-project.ts';
import { type Canary, createCanaries } from '../../../test/kit/canaries.ts';
import type { CriticalArtifact } from '../../machine/index.ts';

const canaries = createCanaries(200, 42);
const leaks = (shown: string, of: readonly Canary[] = canaries): string[] =>
  of
    .filter(({ parts }) =>
      parts.some((part) => shown.includes(part) || shown.includes(JSON.stringify(part).slice(1, -1))),
    )
    .map(({ format }) => format);

const around = ({ text }: Canary, index: number): string =>
  `# Section ${index}\n\nSome words.\n\n${text}\n\nMore words.\n`;

test('[004/8] none of 200 fake secrets in files of every type is shown', async () => {
  const fitsName = (canary: Canary): boolean =>
    /^[\w.~=+-]{1,200}$/.test(canary.text) || canary.parts.length === 1;
  using project = createArtifactProject({
    'all.md': canaries.map(around).join('\n'),
    'skills/a/SKILL.md': canaries.map(around).join('\n'),
    ...Object.fromEntries(canaries.map((canary, i) => [`each/${i}.md`, around(canary, i)])),
    ...Object.fromEntries(
      canaries.map((canary, i) => [
        `json/${i}.json`,
        JSON.stringify({ note: canary.text, list: [{ text: `See:\n${canary.text}` }] }),
      ]),
    ),
    ...Object.fromEntries(
      canaries.map((canary, i) => [`broken/${i}.json`, `{"text": ${JSON.stringify(canary.text)}, oops`]),
    ),
    ...Object.fromEntries(
      canaries.map((canary, i) => [
        `long/${i}.json`,
        JSON.stringify({ text: `${'word '.repeat(100 + i)}${canary.text} ${'word '.repeat(3_000)}` }),
      ]),
    ),
    'huge.md': `${canaries.map(around).join('\n')}\n${'A line.\n'.repeat(30_000)}${canaries.map(around).join('\n')}`,
  });
  for (const canary of canaries.filter(fitsName)) {
    const name = canary.parts[0]?.replaceAll('/', '_') ?? '';
    if (canary.format.startsWith('github')) project.write({ [`names/gh${'p_'}${name}.md`]: 'x' });
  }
  execFileSync('git', ['init', '-q', '-b', 'main'], { cwd: project.root });
  const entries: CriticalArtifact[] = [
    { id: 'all', type: 'markdown', path: 'all.md' },
    { id: 'skill', type: 'skill', path: 'skills/a' },
    { id: 'work', type: 'work_plugin', path: 'all.md' },
    { id: 'huge', type: 'markdown', path: 'huge.md' },
    { id: 'names', type: 'directory', path: 'names' },
    { id: 'state', type: 'json', path: '.stepfast/runs/{run_id}/state.json' },
    { id: 'repository', type: 'git_info' },
    ...canaries.flatMap((_, i): CriticalArtifact[] => [
      { id: `each-${i}`, type: 'markdown', path: `each/${i}.md` },
      { id: `json-${i}`, type: 'json', path: `json/${i}.json` },
      { id: `long-${i}`, type: 'json', path: `long/${i}.json` },
      { id: `broken-${i}`, type: 'json', path: `broken/${i}.json`, required: true },
    ]),
  ];
  const projection = { artifacts: {}, context: canaries.slice(0, 20).map(({ text }) => text) };
  const artifacts = await project.load(entries, { projection });
  expect(artifacts).toHaveLength(entries.length);
  for (const { id, content } of artifacts) {
    expect(content.state, id).toBe(id.startsWith('broken') ? 'refused' : 'loaded');
    const own = canaries[Number(/-(\d+)$/.exec(id)?.[1])];
    expect(leaks(JSON.stringify(content), own && [own]), id).toEqual([]);
  }
  const [all] = artifacts;
  expect(all?.content).toMatchObject({
    warnings: expect.arrayContaining([expect.stringMatching(/^Secrets were removed: .*github-token/)]),
  });
});

test('the name of a list marks its values as secrets', async () => {
  const value = ['q7Zk2mX', 'w9LbR4tVn8Hs'].join('');
  using project = createArtifactProject({
    'a.json': JSON.stringify({ tokens: [value], nested: { apiKeys: ['plain words', value] } }),
  });
  const content = await project.content({ type: 'json', path: 'a.json' });
  expect(JSON.stringify(content)).not.toContain(value);
  expect(content).toMatchObject({ state: 'loaded', text: expect.stringContaining('plain words') });
});

test('secrets in paths, commands, descriptions, conditions and commits are not shown either', async () => {
  using project = createArtifactProject();
  const inline = canaries.filter(({ text }) => !text.includes('\n') && text.length < 200);
  expect(inline.length).toBeGreaterThan(80);
  for (const canary of inline) {
    const state = sampleState({ inputs: { value: canary.text } });
    const definition = { name: 'x', description: '', steps: [], inputs: { value: {} } };
    const artifacts = await project.load(
      [
        { id: 'command', type: 'skill', command: '/load {input.value}', description: 'For {input.value}' },
        { id: 'path', type: 'markdown', path: 'docs/ {input.value}' },
        { id: 'noted', type: 'json', path_from_state: 'artifacts.spec' },
        { id: 'condition', type: 'markdown', path: 'a.md', condition: 'x' },
        { id: 'repository', type: 'git_info' },
      ],
      {
        state,
        definition,
        projection: { artifacts: { spec: `docs/ ${canary.text}` } },
        condition: () => ({ pass: false, why: `cannot read ${canary.text}` }),
        git: async (args) =>
          args[0] === 'status' ? `## main\n?? ${canary.text}\n` : `a1b2c3d ${canary.text}\n`,
      },
    );
    expect(leaks(JSON.stringify(artifacts), [canary]), canary.text).toEqual([]);
  }
});
