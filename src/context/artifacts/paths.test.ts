import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createArtifactProject, runId, sampleState } from '../../../test/kit/artifact-project.ts';

const ups = [
  '..',
  '%2e%2e',
  '%2E%2e',
  '.%2e',
  '%252e%252e',
  '．．',
  '‥',
  '.. ',
  '...',
  '..\u200b',
  '\u202e..',
  '..\0',
];
const separators = ['/', '\\', '%2f', '%5c', '／', '//', '/./', '\\/'];

/** Spellings of a path to a file outside the project. */
function traversals(outside: string): string[] {
  const combined = ups.flatMap((up) =>
    separators.map((separator) => `${up}${separator}outside${separator}plan.md`),
  );
  const deep = [
    'docs/',
    './',
    '././',
    'docs/../',
    '{project_root}/',
    '{project_root}/docs/../',
    '@',
    '@./',
    '@{project_root}/',
  ].map((start) => `${start}../outside/plan.md`);
  const absolute = [
    `${outside}/plan.md`,
    `/${outside}/plan.md`,
    `@${outside}/plan.md`,
    `{project_root}/${outside}/plan.md`,
    `{project_root}${outside}/plan.md`,
    `file://${outside}/plan.md`,
    `~/../..${outside}/plan.md`,
    '~root/.profile',
    '~',
    '/',
    '//',
    '.',
    './',
    '@',
    '',
    ' ',
    '/etc/passwd',
    '//etc/passwd',
    'C:\\Windows\\win.ini',
    'c:/windows/win.ini',
    'C:win.ini',
    '\\\\host\\share\\x',
    '//host/share/x',
    '\\\\?\\C:\\x',
    '/proc/self/environ',
    '/dev/stdin',
    'docs/..',
    '..',
    '../',
    'docs/../..',
    `a${'/..'.repeat(40)}/etc/passwd`,
    `/proc/self/${'root'}/etc/passwd`,
    'docs/plan.md::$DATA',
    'docs/plan.md\n../../outside/plan.md',
    `../outside/plan.md?x`,
    `../outside/plan.md#x`,
    '{project_root}/../outside/plan.md',
    'docs/{project_root}/../outside/plan.md',
    'x'.repeat(5_000),
  ];
  return [...combined, ...deep, ...absolute];
}

describe('paths', () => {
  test('[004/2] no spelling of a path leaves the project', async () => {
    using project = createArtifactProject({ 'docs/plan.md': 'inside' });
    const paths = traversals(project.outside);
    expect(new Set(paths).size).toBeGreaterThan(130);
    for (const type of ['markdown', 'json', 'directory', 'skill', 'work_plugin'] as const) {
      for (const path of paths) {
        const named = await project.content({ type, path });
        const noted = await project.content(
          { type, path_from_state: 'artifacts.spec' },
          { projection: { artifacts: { spec: path } } },
        );
        for (const content of [named, noted]) {
          expect(JSON.stringify(content), path).not.toContain(project.canary);
          const top = type === 'directory' && content.state === 'loaded' && content.text.startsWith('docs/');
          expect(top || content.state === 'refused' || content.state === 'missing', path).toBe(true);
        }
      }
    }
  });

  test.each([
    'docs/plan.md',
    './docs/plan.md',
    '@docs/plan.md',
    '{project_root}/docs/plan.md',
    '@{project_root}/docs/./plan.md',
  ])('[004/2] %s is the same file, by path and from the state', async (path) => {
    using project = createArtifactProject({ 'docs/plan.md': 'inside' });
    const projection = { artifacts: { spec_path: path } };
    for (const entry of [{ path }, { path_from_state: 'artifacts.spec_path' }])
      expect(await project.content(entry, { projection })).toMatchObject({
        state: 'loaded',
        source: '@docs/plan.md',
        text: 'inside',
      });
  });

  test('[004/2] {run_id}, {plan_id} and {project_root} are filled in, also in a path from the state', async () => {
    using project = createArtifactProject({ [`plans/auth-${runId}.md`]: 'the plan' });
    const path = '{project_root}/plans/{plan_id}-{run_id}.md';
    const state = sampleState({ variables: { plan_id: 'auth' } });
    for (const entry of [{ path }, { path_from_state: 'a.b' }])
      expect(await project.content(entry, { state, projection: { a: { b: path } } })).toMatchObject({
        text: 'the plan',
      });
  });

  test.each([
    '../../x',
    '../outside/plan',
    '/etc/passwd',
    '~/x',
    '..',
    'a/../../outside/plan',
    '{project_root}/../x',
    'a\nb',
    'a\\..\\b',
    '%2e%2e/x',
    '',
  ])('[004/2] a plan id of %j is refused after it was filled in', async (plan_id) => {
    using project = createArtifactProject();
    for (const path of ['plans/{plan_id}.md', '{plan_id}', 'plans{plan_id}', '{plan_id}/plan.md']) {
      const content = await project.content({ path }, { state: sampleState({ variables: { plan_id } }) });
      expect(content.state, path).toBe('refused');
      expect(JSON.stringify(content)).not.toContain(project.canary);
    }
  });

  test('[004/2] placeholders inside a value are not filled in', async () => {
    using project = createArtifactProject({
      'plans/auth.md': 'the plan',
      [`plans/${runId}.md`]: 'of the run',
    });
    const definition = { name: 'x', description: '', steps: [], inputs: { name: {} } };
    for (const name of [
      '{plan_id}',
      '{run_id}',
      '{{run_id}}',
      '{input.name}',
      '{outputs.plan}',
      '{summary}',
    ]) {
      const state = sampleState({ inputs: { name }, variables: { plan_id: name }, summary: name });
      for (const path of ['plans/{input.name}.md', 'plans/{plan_id}.md', 'plans/{summary}.md'])
        expect((await project.content({ path }, { definition, state })).state, `${name} in ${path}`).toBe(
          'missing',
        );
    }
    const [artifact] = await project.load(
      [
        {
          id: 'it',
          type: 'skill',
          command: '/load {input.name}',
          description: 'For {input.name}, {{run_id}}',
        },
      ],
      { definition, state: sampleState({ inputs: { name: '{run_id}\n{project_root}' } }) },
    );
    expect(artifact?.description).toBe('For {run_id}\n{project_root}, {run_id}');
    expect(artifact?.content).toMatchObject({ command: '/load {run_id}\ufffd{project_root}' });
  });

  test("keys of Object's prototype resolve to nothing and pollute nothing", async () => {
    using project = createArtifactProject({
      'a.json':
        '{"__proto__": {"polluted": "yes"}, "constructor": {"prototype": {"polluted": 1}}, "toString": "text"}',
    });
    const definition = { name: 'x', description: '', steps: [], inputs: {} };
    const names = [
      '__proto__',
      'constructor',
      'toString',
      '__proto__.polluted',
      'constructor.name',
      'constructor.prototype',
      'artifacts.__proto__',
    ];
    for (const name of names) {
      const projection: unknown = JSON.parse('{"artifacts": {}, "context": {"__proto__": {"x": "docs"}}}');
      expect((await project.content({ path_from_state: name }, { projection })).state, name).toBe('missing');
      for (const path of [`{input.${name}}`, `{outputs.${name}}`])
        expect(['missing', 'refused'], path).toContain(
          (await project.content({ path }, { definition })).state,
        );
    }
    const [artifact] = await project.load([{ id: '__proto__', type: 'json', path: 'a.json' }]);
    expect(artifact?.id).toBe('__proto__');
    expect(artifact?.content).toMatchObject({
      text: expect.stringContaining('"__proto__": {\n    "polluted": "yes"'),
    });
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect('polluted' in {}).toBe(false);
  });

  test("files of git and of other runs are refused; the run's own files are read from the root", async () => {
    using project = createArtifactProject({
      '.git/config': 'canary-of-the-outside',
      'packages/a/.GIT/config': 'canary-of-the-outside',
      '.stepfast/runs/other-20261114-aaaaaaaa/state.json': '{"canary": "canary-of-the-outside"}',
      '.stepfast/worktrees/x/plan.md': 'canary-of-the-outside',
      [`.stepfast/runs/${runId}/journal.jsonl`]: 'canary-of-the-outside',
      [`.stepfast/runs/${runId}/state.json`]: '{"snapshot": "canary-of-the-outside"}',
      [`.stepfast/runs/${runId}/TODO.md`]: 'to do',
      [`.stepfast/runs/${runId}/outputs/plan.md`]: 'an output',
      '.stepfast/workflows/feature.yaml': 'name: feature',
    });
    const worktree = join(project.root, '..', 'tree');
    mkdirSync(worktree);
    const own = '.stepfast/runs/{run_id}';
    const refused = [
      '.git/config',
      '.GIT/config',
      'packages/a/.GIT/config',
      '.git',
      '.stepfast/worktrees/x/plan.md',
      '.stepfast/runs',
      own,
      `${own}/journal.jsonl`,
      '.Stepfast/Runs/other-20261114-aaaaaaaa/state.json',
      '.stepfast/runs/other-20261114-aaaaaaaa/state.json',
      'packages/.stepfast/runs/{run_id}/state.json',
    ];
    for (const path of refused) {
      for (const type of ['markdown', 'json', 'directory'] as const)
        expect(await project.content({ type, path }), path).toMatchObject({ state: 'refused' });
    }
    const request = { worktree, projection: { run_id: runId, phase: 'plan' } };
    expect(await project.content({ path: `${own}/TODO.md` }, request)).toMatchObject({ text: 'to do' });
    expect(await project.content({ path: `${own}/outputs/plan.md` }, request)).toMatchObject({
      text: 'an output',
    });
    expect(await project.content({ type: 'json', path: `${own}/state.json` }, request)).toMatchObject({
      state: 'loaded',
      text: `{\n  "run_id": "${runId}",\n  "phase": "plan"\n}`,
    });
    expect(await project.content({ path: '.stepfast/workflows/feature.yaml' })).toMatchObject({
      state: 'loaded',
    });
    writeFileSync(join(worktree, 'plan.md'), 'of the worktree');
    expect(await project.content({ path: 'plan.md' }, request)).toMatchObject({ text: 'of the worktree' });
  });
});
