import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { workflowJsonSchema, workflowSearchPath } from '../src/definition/index.ts';
import type { Definition } from '../src/machine/index.ts';
import { bundled, directory, idsOf, load, stepOf, workThrough } from './kit/bundled.ts';
import { Run } from './kit/run.ts';
import { schemaKeys, usedKeys } from './kit/schema-keys.ts';

const scratch = mkdtempSync(join(tmpdir(), 'stepfast-bundled-'));

afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const files = readdirSync(directory)
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => join(directory, name));
const textOf = (file: string): string => readFileSync(file, 'utf8');
const positionsOf = ({ steps, loops = {} }: Definition) => [...steps, ...Object.values(loops).flat()];
const gatesOf = ({ steps, loops = {} }: Definition) => [
  ...steps.flatMap(({ gate = [], until = [] }) => [...gate, ...until]),
  ...Object.values(loops)
    .flat()
    .flatMap(({ gate = [] }) => gate),
];
const commandsOf = (definition: Definition): string[] =>
  gatesOf(definition).flatMap(({ run }) => (run === undefined ? [] : [run]));

describe.each(files.map((file) => [basename(file, '.yaml'), file] as const))('%s', (name, file) => {
  // A file that does not load fails the first test; the others then look at one that does.
  const { definition = bundled('go'), diagnostics } = load(file);

  test('the file loads without errors and warnings, and its name is that of the file', () => {
    expect(diagnostics).toEqual([]);
    expect(load(file).definition?.name).toBe(name);
  });

  test('the first line names a schema that exists, and a comment says when to use it', () => {
    const [first = '', , ...rest] = textOf(file).split('\n');
    const schema = /^# yaml-language-server: \$schema=(\S+)$/.exec(first)?.[1] ?? '';
    expect(existsSync(resolve(dirname(file), schema))).toBe(true);
    expect(rest[0]).toMatch(/^# (?:For|A small example) /);
  });

  test('it is found by its name', () => {
    expect(workflowSearchPath().at(-1)).toEqual({ kind: 'bundled', directory });
    expect(load(file).hash).toMatch(/^(?:sha256:)?[0-9a-f]{64}$/);
  });

  test('every position says what its output holds, in a text that a briefing gives in full', () => {
    const silent = positionsOf(definition).filter(
      ({ instructions = '', ...position }) =>
        !('type' in position && position.type === 'loop') && !instructions.includes('\nOutput: '),
    );
    expect(silent).toEqual([]);
    expect(Math.max(...positionsOf(definition).map((each) => each.instructions?.length ?? 0))).toBeLessThan(
      2000,
    );
  });

  test('instructions begin with a line that says it in short', () => {
    for (const { id, instructions } of positionsOf(definition)) {
      if (instructions === undefined) continue;
      expect(instructions.split('\n')[0]?.length, id).toBeLessThan(64);
    }
    expect(positionsOf(definition).length).toBeGreaterThan(0);
  });

  test('[004/11] it declares critical artifacts, each with a purpose or a telling id, each with a trigger', () => {
    const { always_load = [], conditional_load = [] } = definition.critical_artifacts ?? {};
    expect(always_load.length).toBeGreaterThan(0);
    for (const artifact of [...always_load, ...conditional_load]) {
      expect(artifact.reload_triggers?.length, artifact.id).toBeGreaterThan(0);
    }
  });

  test('its gates only look: no command comes from an input, none changes anything but what it declares', () => {
    for (const gate of gatesOf(definition)) {
      if (gate.run === undefined) continue;
      expect(gate.run).toMatch(/^(?:! )?(?:git (?:rev-parse|log|diff) |grep )/);
      expect(gate.run).not.toMatch(/[;&|`]|\$\(/);
      expect(/> ?(\S+)$/.exec(gate.run)?.[1]).toBe(gate.writes?.[0]);
    }
    // Each use of an input is quoted.
    for (const run of commandsOf(definition)) {
      expect(run.replaceAll(/"[^"]*"/g, '')).not.toContain('STEPFAST_');
    }
    expect(definition.name).toBe(name);
  });

  test('an agent that does its work is led through every step to the end', () => {
    const run = workThrough(definition);
    expect(run.state.status).toBe('complete');
    const completed = run.events.flatMap((event) => (event.type === 'step.completed' ? [event.step] : []));
    expect(completed).toEqual(idsOf(definition));
  });

  test('the additions that its comment shows load on top of it', () => {
    const shown = exampleIn(textOf(file));
    if (shown === undefined) {
      expect(textOf(file)).not.toMatch(/^# +extends:/m);
      return;
    }
    const own = join(mkdtempSync(join(scratch, 'own-')), `${name}.yaml`);
    writeFileSync(own, shown);
    const { definition: extended, diagnostics: problems } = load(own);
    expect(problems).toEqual([]);
    expect(extended && idsOf(extended)).toEqual(idsOf(definition));
    expect(extended && commandsOf(extended)).not.toEqual(commandsOf(definition));
  });
});

/** Comment lines that are indented by more than a sentence is. */
function exampleIn(text: string): string | undefined {
  const lines = text.split('\n').filter((line) => line.startsWith('#   '));
  const shown = lines.map((line) => line.slice(4)).join('\n');
  return shown.includes('extends:') ? `${shown}\n` : undefined;
}

test('there is a workflow for every occasion that the documentation names', () => {
  expect(files.map((file) => basename(file, '.yaml'))).toEqual([
    'bugfix',
    'context-example',
    'faber',
    'feature',
    'go',
    'hotfix',
    'keep',
    'planning',
    'qa-loop',
    'refactor',
    'release',
    'spec-feature',
  ]);
});

test('every key of the format is used by a bundled workflow', () => {
  const used = new Set(files.flatMap((file) => usedKeys(parse(textOf(file)))));
  const all = schemaKeys(workflowJsonSchema()).map(({ object, key }) => `${object} ${key}`);
  // For files that come from elsewhere, for other tools, or limits that only a user knows; `after` and `title` are shown on a step.
  const elsewhere = [
    ...['Workflow id', 'Workflow phases', 'Workflow state_mirror', 'Workflow budget', 'Budget cost'],
    ...[
      'Sub-step after',
      'Sub-step title',
      'Step when',
      'Sub-step when',
      'Gate expect',
      'Gate contains',
      'Gate baseline',
    ],
    ...['run', 'timeout', 'output', 'schema', 'idempotent'].flatMap((key) => [
      `Step ${key}`,
      `Sub-step ${key}`,
    ]),
    'Sub-step type',
    'Workflow finally',
    ...['id', 'run', 'timeout'].map((key) => `Cleanup ${key}`),
    'Step tasks',
    'Step merge_gate',
    ...['Workflow worktree', 'Worktree setup', 'Worktree copy', 'Worktree inputs'],
    ...['files', 'checklist', 'json', 'output', 'min', 'max', 'locked'].map((key) => `Tasks ${key}`),
    ...['Input enum', 'Input pattern', 'Workflow notify', 'Review independent'],
  ];
  expect(all.filter((key) => !used.has(key)).sort()).toEqual(elsewhere.sort());
});

test('[M12] faber has the phases of FABER, and its artifacts exist when they are due', () => {
  const faber = bundled('faber');
  expect(idsOf(faber)).toEqual(['frame', 'architect', 'build', 'evaluate', 'release']);
  const { always_load = [], conditional_load = [] } = faber.critical_artifacts ?? {};
  expect(always_load.map(({ path }) => path)).toContain('.stepfast/runs/{run_id}/state.json');
  expect(conditional_load).toMatchObject([
    {
      path_from_state: 'artifacts.spec_path',
      reload_triggers: expect.arrayContaining(['phase_transition:architect->build']),
    },
  ]);
  expect(stepOf(faber, 'architect').gate).toEqual([{ condition: 'state.artifacts.spec_path != null' }]);
});

test('go has one step, checks at a stop, and takes its test command from a file of the project', () => {
  const go = bundled('go');
  expect(idsOf(go)).toEqual(['do']);
  expect(go.stop).toBe('check');
  const own = join(mkdtempSync(join(scratch, 'go-')), 'go.yaml');
  writeFileSync(own, 'name: go\nextends: go\nsteps: [{ id: do, gate: [{ run: npm test }] }]\n');
  const { definition, diagnostics } = load(own);
  expect(diagnostics).toEqual([]);
  expect(definition?.steps[0]).toEqual({ ...go.steps[0], gate: [{ run: 'npm test' }] });
});

test('hotfix is bugfix without one step, with another, and with a person at the end', () => {
  const hotfix = bundled('hotfix');
  expect(idsOf(hotfix)).toEqual(['reproduce', 'diagnose', 'fix', 'way_back', 'verify']);
  expect(stepOf(hotfix, 'verify')).toEqual({
    ...stepOf(bundled('bugfix'), 'verify'),
    review: { by: 'human', on_pivot: 'diagnose' },
  });
});

test('keep checks nothing and holds nothing', () => {
  const keep = bundled('keep');
  expect({ steps: idsOf(keep), gates: gatesOf(keep), stop: keep.stop }).toEqual({
    steps: ['work'],
    gates: [],
    stop: 'allow',
  });
});

test('release cannot reach publishing without a person', () => {
  const release = bundled('release');
  const run = new Run(release, { start: false });
  const inputs = { version: 'v2.0.0', since: 'v1.0.0' };
  run.send({ type: 'start', run: 'release-20261115-k3f9x2ab', inputs });
  for (const _ of ['prepare', 'notes']) {
    run.advance();
    run.gates();
  }
  expect(run.status().contextAction).toBe('/clear');
  expect(run.status().instructions).toContain('somebody who did not prepare it');
  run.advance();
  run.gates();
  expect(run.status()).toMatchObject({ status: 'waiting', waiting: { for: 'review', by: 'human' } });
  expect(run.send({ type: 'review', verdict: 'approve' })).toMatchObject({ code: 'person_only' });
  expect(run.person({ type: 'review', verdict: 'approve' })).toMatchObject({ step: 'publish' });
});

test('the gates of release tell a good repository from a bad one, whatever the inputs hold', () => {
  const repository = mkdtempSync(join(scratch, 'repository-'));
  const sh = (command: string, env: Record<string, string> = {}): number | null =>
    spawnSync('sh', ['-c', command], { cwd: repository, env: { PATH: process.env.PATH ?? '', ...env } })
      .status;
  sh('git init -q . && git config user.name a && git config user.email a@b');
  writeFileSync(join(repository, 'CHANGELOG.md'), '## 2.0.0\n');
  sh('git add . && git commit -qm first && git tag v1.0.0 && git commit -q --allow-empty -m "feat: second"');
  const release = bundled('release');
  const commands = (id: string): string[] => (stepOf(release, id).gate ?? []).flatMap(({ run }) => run ?? []);
  const [untagged = '', tagged = ''] = [...commands('prepare'), ...commands('publish')];
  const [noted = '', listed = ''] = commands('notes');
  const inputs = (version: string, since = 'v1.0.0') => ({
    STEPFAST_INPUT_VERSION: version,
    STEPFAST_INPUT_SINCE: since,
    STEPFAST_INPUT_CHANGELOG: 'CHANGELOG.md',
  });
  const results = (version: string) =>
    [untagged, tagged, noted].map((command) => sh(command, inputs(version)) === 0);
  expect(results('v2.0.0')).toEqual([true, false, true]);
  expect(results('v1.0.0')).toEqual([false, true, false]);
  expect(sh(listed, inputs('v2.0.0'))).toBe(0);
  expect(textOf(join(repository, 'release-commits.txt'))).toMatch(/^[0-9a-f]{7,} feat: second\n$/);
  const hostile = '"; touch taken; "$(touch taken)';
  for (const command of commandsOf(release)) sh(command, inputs(hostile, `--output=taken ${hostile}`));
  expect(readdirSync(repository).filter((name) => name.includes('taken'))).toEqual([]);
});

test('the rounds of qa-loop end when no box is open', () => {
  const [, open] = stepOf(bundled('qa-loop'), 'fix_issues').until ?? [];
  const place = mkdtempSync(join(scratch, 'qa-'));
  const holds = (report: string): boolean => {
    writeFileSync(join(place, 'QA.md'), report);
    return spawnSync('sh', ['-c', open?.run ?? 'false'], { cwd: place }).status === 0;
  };
  expect(holds('npm test\n\n- [x] a.ts:1: wrong (tsc)\n- [ ] b.ts:2: wrong (lint)\n')).toBe(false);
  expect(holds('npm test\n\n- [x] a.ts:1: wrong (tsc)\n- [x] b.ts:2: wrong (lint)\n')).toBe(true);
});

test('[000/10] context-example shows clear, compact and a loop', () => {
  const example = bundled('context-example');
  expect(example.steps.map(({ id, type, context }) => [id, type, context])).toEqual([
    ['brainstorm', 'action', 'clear'],
    ['plan', 'action', undefined],
    ['implement_loop', 'loop', undefined],
    ['review', 'action', 'compact'],
  ]);
  expect(example.loops?.implement_loop?.map(({ id, context }) => [id, context])).toEqual([
    ['analyze', undefined],
    ['code', 'compact'],
    ['verify', undefined],
  ]);
  const asked = workThrough(example).events.flatMap((event) =>
    event.type === 'boundary.requested' ? [event.at.split(':')[1]?.split('#')[0]] : [],
  );
  expect(asked).toEqual(['brainstorm', 'implement_loop/one/code', 'implement_loop/two/code', 'review']);
});

test('[002/1] the four types are there, and planning and qa-loop have their phases', () => {
  const types = new Set(files.map((file) => load(file).definition?.type));
  expect([...types].sort()).toEqual(['custom', 'implementation', 'planning', 'qa-loop']);
  const planning = bundled('planning');
  expect(planning.type).toBe('planning');
  expect(idsOf(planning)).toEqual(['scope', 'research', 'design', 'plan', 'review', 'hand_over']);
  expect(bundled('qa-loop')).toMatchObject({ type: 'qa-loop' });
  expect(idsOf(bundled('qa-loop'))).toEqual(['run_qa', 'fix_issues', 'verify']);
  const run = new Run(planning, { start: false });
  const started = run.send({ type: 'start', run: 'planning-20261115-k3f9x2ab', inputs: { goal: 'x' } });
  expect(started.phase).toEqual({ current: 1, total: 6, name: 'scope', status: 'in_progress' });
});

test('[002/1] gates, required reading, key reminders and context variables are all shown', () => {
  const all = files.map((file) => load(file).definition);
  expect(all.some((each) => each?.required_reading?.every((path) => path.startsWith('@')))).toBe(true);
  expect(all.some((each) => each?.key_reminders?.length)).toBe(true);
  expect(all.some((each) => Object.keys(each?.variables ?? {}).includes('plan_id'))).toBe(true);
  expect(
    new Set(all.flatMap((each) => (each ? gatesOf(each).flatMap((gate) => Object.keys(gate)) : []))),
  ).toEqual(new Set(['run', 'exists', 'condition', 'read', 'paths', 'writes', 'timeout', 'rerun']));
});

test('[004/11] no artifact is required that a project may lack when the run begins', () => {
  for (const file of files) {
    const { always_load = [] } = load(file).definition?.critical_artifacts ?? {};
    expect(always_load.filter(({ type, required }) => required && type !== 'git_info')).toEqual([]);
  }
});
