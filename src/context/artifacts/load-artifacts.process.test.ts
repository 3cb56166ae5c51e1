import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createArtifactProject, runId, sampleState } from '../../../test/kit/artifact-project.ts';
import { loadArtifacts } from './load-artifacts.ts';

describe('critical artifacts', () => {
  test('[004/1] every type is loaded, in the order of the workflow', async () => {
    using project = createArtifactProject({
      'plan.json': '{"tasks":[1,2]}',
      'docs/protocol.md': '# Protocol\n',
      'plugins/work.md': 'How to fetch work.\n',
      'skills/review/SKILL.md': 'How to review.\n',
    });
    const git = (...args: string[]): Buffer =>
      execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.com', ...args], {
        cwd: project.root,
        stdio: 'pipe',
      });
    git('init', '-q', '-b', 'main');
    git('add', 'docs');
    git('commit', '-q', '-m', 'The first commit');
    const artifacts = await project.load([
      {
        id: 'plan',
        type: 'json',
        path: 'plan.json',
        required: true,
        reload_triggers: ['manual'],
        description: 'The plan',
      },
      { id: 'protocol', type: 'markdown', path: 'docs/protocol.md' },
      { id: 'docs', type: 'directory', path: 'docs' },
      { id: 'work', type: 'work_plugin', path: 'plugins/work.md' },
      { id: 'review', type: 'skill', path: 'skills/review' },
      { id: 'repository', type: 'git_info' },
    ]);
    const text = '{\n  "tasks": [\n    1,\n    2\n  ]\n}';
    const hash = `sha256:${createHash('sha256').update('{"tasks":[1,2]}').digest('hex')}`;
    expect(artifacts[0]).toEqual({
      id: 'plan',
      type: 'json',
      description: 'The plan',
      required: true,
      triggers: ['manual'],
      content: { state: 'loaded', source: '@plan.json', text, hash, bytes: 15, warnings: [] },
    });
    expect(artifacts[1]).toMatchObject({
      description: 'protocol',
      required: false,
      triggers: ['session_start'],
    });
    const loaded = artifacts.map(({ content }) =>
      content.state === 'loaded' ? [content.source, content.text] : content,
    );
    expect(loaded.slice(1, 5)).toEqual([
      ['@docs/protocol.md', '# Protocol\n'],
      ['@docs/', 'protocol.md  11 B'],
      ['@plugins/work.md', 'How to fetch work.\n'],
      ['@skills/review/SKILL.md', 'How to review.\n'],
    ]);
    const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
      cwd: project.root,
      encoding: 'utf8',
    }).trim();
    expect(loaded[5]).toEqual([
      'git',
      `branch: main\ncommit: ${commit} The first commit\nchanged files: 3\n  ?? plan.json\n  ?? plugins/\n  ?? skills/`,
    ]);
  });

  test('[004/1] always_load comes before conditional_load, and only the requested ids are loaded', async () => {
    using project = createArtifactProject({ 'a.md': 'a', 'b.md': 'b' });
    const request = {
      definition: {
        name: 'x',
        description: '',
        steps: [],
        critical_artifacts: {
          conditional_load: [{ id: 'b', type: 'markdown' as const, path: 'b.md', condition: 'true' }],
          always_load: [{ id: 'a', type: 'markdown' as const, path: 'a.md' }],
        },
      },
      state: sampleState(),
      projection: {},
      root: project.root,
      worktree: project.root,
      condition: () => ({ pass: true }),
      git: async () => undefined,
    };
    expect((await loadArtifacts(request)).map(({ id }) => id)).toEqual(['a', 'b']);
    expect((await loadArtifacts({ ...request, only: ['b', 'unknown'] })).map(({ id }) => id)).toEqual(['b']);
  });

  test('[004/2] a condition decides, also in always_load; one that cannot be evaluated gives the state unclear', async () => {
    using project = createArtifactProject({ 'a.md': 'a' });
    const entry = { path: 'a.md', condition: 'state.x != null' };
    const asked: string[] = [];
    const condition = (pass: boolean, why?: string) => (expression: string) => {
      asked.push(expression);
      return { pass, ...(why === undefined ? {} : { why }) };
    };
    expect(await project.content(entry, { condition: condition(false) })).toEqual({ state: 'not_needed' });
    expect(await project.content(entry, { condition: condition(true) })).toMatchObject({ state: 'loaded' });
    expect(await project.content(entry, { condition: condition(false, 'no such method') })).toEqual({
      state: 'unclear',
      why: "The condition of 'it' cannot be evaluated: no such method",
    });
    expect(asked).toEqual(['state.x != null', 'state.x != null', 'state.x != null']);
  });

  test('[004/14] a slash command is done once the agent noted it', async () => {
    using project = createArtifactProject();
    const entry = { type: 'work_plugin', command: '/work:fetch {run_id}' } as const;
    const command = `/work:fetch ${runId}`;
    expect(await project.content(entry)).toEqual({ state: 'command', command, done: false });
    const note = { id: 'n1', kind: 'reading' as const, text: 'Fetched', key: 'it', now: 1 };
    for (const [notes, done] of [
      [[note], true],
      [[{ ...note, key: 'other' }], false],
      [[{ ...note, kind: 'reminder' as const }], false],
    ] as const)
      expect(await project.content(entry, { state: sampleState({ notes: [...notes] }) })).toMatchObject({
        done,
      });
  });

  test('[004/8] a missing or refused artifact says what to do and never quotes the content', async () => {
    using project = createArtifactProject({
      'bad.json': '{"a": canary',
      'image.md': Buffer.from([137, 80, 78, 71, 0, 1]),
      'latin.md': Buffer.from([0xe9, 0x20]),
      '.env': 'canary',
      'docs/a.md': 'a',
    });
    const cases: [Parameters<typeof project.content>[0], string, RegExp][] = [
      [{ path: 'gone.md' }, 'missing', /^'gone.md' of 'it' does not exist: write it/],
      [{ path: 'docs/a.md/x' }, 'missing', /does not exist/],
      [
        { path_from_state: 'artifacts.spec' },
        'missing',
        /artifacts.spec of state.json.* \(kind artefact, key spec\)\.$/,
      ],
      [{ path: 'docs' }, 'refused', /is a directory: name a file/],
      [{ type: 'directory', path: 'docs/a.md' }, 'refused', /is a file: name a directory/],
      [{ type: 'json', path: 'bad.json' }, 'refused', /JSON/],
      [{ path: 'image.md' }, 'refused', /UTF-8/],
      [{ path: 'latin.md' }, 'refused', /UTF-8/],
      [{ path: '.env' }, 'refused', /holds secrets/],
      [{ path: '{plan_id}.md' }, 'refused', /\{plan_id\} has no value/],
      [{ type: 'skill', path: 'docs' }, 'missing', /^'docs\/SKILL\.md' of 'it' does not exist/],
      [{ type: 'git_info' }, 'missing', /git init/],
    ];
    const projection = { artifacts: { spec_path: 'gone.md' } };
    cases.push([
      { path_from_state: 'artifacts.spec_path' },
      'missing',
      /does not exist: write it, or note another path \(kind artefact, key spec_path\)\.$/,
    ]);
    for (const [entry, state, why] of cases) {
      const content = await project.content(entry, { projection, git: async () => undefined });
      expect(content).toMatchObject({ state, why: expect.stringMatching(why) });
      expect(JSON.stringify(content)).not.toContain('canary');
    }
  });

  test('[004/8] a large JSON file is shortened with counts of what is missing and a warning', async () => {
    const tasks = Array.from({ length: 3_000 }, (_, id) => ({
      id,
      title: `Task ${id}`,
      text: 'lorem ipsum '.repeat(10),
      deep: { a: { b: { c: { d: { e: { f: 1 } } } } } },
    }));
    using project = createArtifactProject({
      'plan.json': JSON.stringify({ name: 'auth', tasks, story: 'word '.repeat(2_000) }),
    });
    const content = await project.content({ type: 'json', path: 'plan.json' });
    if (content.state !== 'loaded') throw new Error(content.state);
    expect(content.text.length).toBeLessThanOrEqual(8 * 1024);
    expect(content.text).toMatch(/^\{\n {2}"name": "auth",\n {2}"tasks": \[\n/);
    expect(content.text).toMatch(/… 2,9\d\d more\n/);
    expect(content.text).toMatch(/… [\d,]+ more characters/);
    expect(content.warnings).toEqual([expect.stringMatching(/^'plan.json' is \d+ KB, .* \d KB /)]);
    expect(await project.content({ type: 'json', path: 'plan.json' })).toEqual(content);
  });

  test('[004/8] JSON of any shape is shortened to the limit', async () => {
    const values: Record<string, string> = {
      'deep.json': `${'['.repeat(4_000)}${']'.repeat(4_000)}`,
      'wide.json': JSON.stringify(
        Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`key ${i} ${'x'.repeat(40)}`, i])),
      ),
      'long.json': JSON.stringify('x'.repeat(1_000_000)),
      'keys.json': JSON.stringify({ ['k'.repeat(500_000)]: 1 }),
      'scalar.json': '12',
      'null.json': 'null',
      'bom.json': '\ufeff{"a":1}',
    };
    using project = createArtifactProject(values);
    for (const path of Object.keys(values)) {
      const content = await project.content({ type: 'json', path });
      if (content.state !== 'loaded') throw new Error(`${path} ${JSON.stringify(content)}`);
      expect(content.text.length, path).toBeLessThanOrEqual(8 * 1024);
      expect(content.text.length, path).toBeGreaterThan(1);
    }
    project.write({ 'huge.json': Buffer.alloc(3 * 1024 * 1024, ' ') });
    expect(await project.content({ type: 'json', path: 'huge.json' })).toMatchObject({
      state: 'refused',
      why: expect.stringContaining('3.0 MB'),
    });
  });

  test('[004/8] a long text has a warning, and a text over the limit is truncated', async () => {
    using project = createArtifactProject({
      'long.md': 'A line of text é\n'.repeat(3_000),
      'huge.md': 'A line of text é\n'.repeat(60_000),
    });
    const long = await project.content({ path: 'long.md' });
    expect(long).toMatchObject({
      state: 'loaded',
      bytes: 54_000,
      warnings: [expect.stringContaining('53 KB')],
    });
    const huge = await project.content({ path: 'huge.md' });
    if (huge.state !== 'loaded') throw new Error(huge.state);
    expect(huge.text.length).toBeLessThan(256 * 1024);
    expect(huge.text).toMatch(/A line of text é\n\n… \d+ KB more$/);
    expect(huge).toMatchObject({
      bytes: 1_080_000,
      warnings: [expect.stringMatching(/1\.0 MB.*256 KB/)],
    });
  });

  test('[004/1] a directory listing has names and sizes, two levels deep, without caches and dependencies', async () => {
    using project = createArtifactProject({
      'a.md': 'canary',
      '.env': 'canary',
      'src/index.ts': 'canary',
      'src/deep/x/y.ts': 'canary',
      'node_modules/a/index.js': 'canary',
      '.git/HEAD': 'canary',
      '.stepfast/runs/other/state.json': 'canary',
      '.stepfast/workflows/a.yaml': 'canary',
      'odd\nname.md': 'canary',
    });
    symlinkSync('../outside', join(project.root, 'link'));
    const content = await project.content({ type: 'directory', path: '{project_root}' });
    expect(content).toMatchObject({
      state: 'loaded',
      text: '.env  6 B\n.stepfast/\n  workflows/\na.md  6 B\nlink  (link)\nodd\ufffdname.md  6 B\nsrc/\n  deep/\n  index.ts  6 B',
    });
    mkdirSync(join(project.root, 'many'));
    for (let i = 0; i < 300; i++) writeFileSync(join(project.root, 'many', `${i}.md`), '');
    const many = await project.content({ type: 'directory', path: 'many' });
    expect(many).toMatchObject({
      text: expect.stringMatching(/\n… 100 more$/),
      warnings: [expect.stringContaining('incomplete')],
    });
  });

  test('[004/1] git_info shows twenty changed files and counts the others', async () => {
    using project = createArtifactProject();
    const lines = Array.from({ length: 32 }, (_, i) => ` M src/${i}.ts`);
    const git = async (args: readonly string[]): Promise<string> =>
      args[0] === 'status'
        ? `## main...origin/main [ahead 2, behind 1]\n${lines.join('\n')}\n`
        : 'a1b2c3d Subject\u001b[31m\n';
    const content = await project.content({ type: 'git_info' }, { git });
    if (content.state !== 'loaded') throw new Error(content.state);
    expect(content.text).toMatch(
      /^branch: main\.\.\.origin\/main \[ahead 2, behind 1\]\ncommit: a1b2c3d Subject\ufffd\[31m\nchanged files: 32\n/,
    );
    expect(content.text.split('\n')).toHaveLength(24);
    expect(content.text).toMatch(/… 12 more$/);
  });

  test("[M12] the path of the state in seed 004's sample is that of this run", async () => {
    using project = createArtifactProject({});
    const content = await project.content(
      { type: 'json', path: '.fractary/runs/{run_id}/state.json', required: true },
      { projection: { status: 'in_progress' } },
    );
    expect(content).toMatchObject({ state: 'loaded', text: expect.stringContaining('in_progress') });
  });

  test('[004/13] the artifacts of seed 004 load as they are written there', async () => {
    using project = createArtifactProject({
      [`.fractary/runs/${runId}/state.json`]: '{"status":"in_progress"}',
      'logs/fractary/plugins/faber/plans/plan-7.json': '{"id":"plan-7"}',
      'plugins/faber/docs/workflow-orchestration-protocol.md': '# Protocol',
      'specs/WORK-00258.md': '# Spec',
    });
    const artifacts = await project.load(
      [
        { id: 'workflow-state', type: 'json', path: '.fractary/runs/{run_id}/state.json', required: true },
        {
          id: 'workflow-plan',
          type: 'json',
          path: 'logs/fractary/plugins/faber/plans/{plan_id}.json',
          required: true,
        },
        {
          id: 'orchestration-protocol',
          type: 'markdown',
          path: 'plugins/faber/docs/workflow-orchestration-protocol.md',
          required: true,
        },
        {
          id: 'specification',
          type: 'markdown',
          path_from_state: 'artifacts.spec_path',
          condition: 'state.artifacts.spec_path != null',
        },
      ],
      {
        projection: { artifacts: { spec_path: '{project_root}/specs/WORK-00258.md' } },
        definition: { name: 'x', description: '', steps: [], variables: { plan_id: 'plan-7' } },
      },
    );
    expect(artifacts.map(({ content }) => content.state)).toEqual(['loaded', 'loaded', 'loaded', 'loaded']);
  });
});
