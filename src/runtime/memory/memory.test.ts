import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestProject, type TestProject } from '../../../test/kit/project.ts';
import { compileBriefing } from '../../context/index.ts';
import { projectState } from '../../store/index.ts';
import { type Answer, isRefused, type Runtime, type Told, type Who } from '../index.ts';

const workflow = `name: feature
description: Plan and build
required_reading: ["@docs/conventions.md"]
critical_artifacts:
  always_load:
    - { id: plan, type: markdown, path: "docs/{plan_id}.md", required: true, reload_triggers: [session_start] }
    - { id: repository, type: git_info, reload_triggers: [phase_transition] }
  conditional_load:
    - id: spec
      type: markdown
      path_from_state: artifacts.spec_path
      condition: state.artifacts.spec_path !== null
      reload_triggers: ["phase_transition:plan->build"]
variables: { plan_id: auth }
steps:
  - { id: plan, type: action, instructions: Plan it. }
  - { id: build, type: action, instructions: Build it. }
  - { id: ship, type: action, instructions: Ship it. }
`;
const one: Who = { session: 'one', host: 'scripted' };
const two: Who = { session: 'two', host: 'scripted' };
const telling = { session: 'one', next: 'Go on.', more: 'ask for {section}' };

let project: TestProject;
let runtime: Runtime;
let now = 1_800_000_000_000;
beforeEach(() => {
  project = createTestProject({
    '.stepfast/workflows/feature.yaml': workflow,
    'docs/auth.md': '# The plan\n',
    'docs/conventions.md': 'Write tests.\n',
    'specs/login.md': '# The spec\n',
  });
  runtime = project.runtime({ clock: () => now });
});
afterEach(() => project[Symbol.dispose]());

function told({ reply }: Answer): Told {
  if (isRefused(reply)) throw new Error(`refused: ${reply.code} ${reply.message}`);
  return reply;
}
const viewOf = async (run: string) => (await runtime.engine.view(run)) ?? expect.fail('the run');
const projectionOf = ({ definition, state }: Awaited<ReturnType<typeof viewOf>>) =>
  projectState(definition, state);
const ids = (answer: Answer) => answer.due?.map(({ id, trigger }) => `${id} ${trigger}`);

test('[004/6] what is due comes by itself: at the start of a session and at a phase transition, each once', async () => {
  const started = await runtime.start({ workflow: 'feature' }, one);
  const { run } = told(started);
  expect(ids(started)).toEqual(['plan session_start']);
  const text = await runtime.memory.bring(run, one, started.due ?? [], 'ask for {section}');
  expect(text).toContain('# The plan');
  expect(ids(await runtime.call({ type: 'status' }, one, { run }))).toEqual([]);
  await runtime.call({ type: 'note', kind: 'artefact', key: 'spec_path', text: 'specs/login.md' }, one, {
    run,
  });
  now += 1000;
  const built = await runtime.call({ type: 'advance', output: 'planned' }, one, { run });
  expect(ids(built)).toEqual(['repository phase_transition', 'spec phase_transition:plan->build']);
  const brought = await runtime.memory.bring(run, one, built.due ?? [], 'ask for {section}');
  expect(brought).toContain('# The spec');
  expect(brought).toContain('branch: main');
  now += 1000;
  const other = await runtime.call({ type: 'note', kind: 'decision', text: 'x' }, two, { run });
  expect(ids(other)).toContain('plan session_start');
  const { context_metadata } = projectionOf(await viewOf(run));
  expect(context_metadata).toMatchObject({ reload_count: 2 });
  expect(context_metadata.artifacts_in_context.map((each) => each.artifact_id)).toEqual([
    'plan',
    'repository',
    'spec',
  ]);
});

test('[004/8] a missing required artifact stops the workflow and says what mends it; an optional one does not', async () => {
  const { run } = told(await runtime.start({ workflow: 'feature' }, one));
  rmSync(join(project.root, 'docs/auth.md'));
  const { reply } = await runtime.call({ type: 'advance', output: 'planned' }, one, { run });
  expect(reply).toMatchObject({ code: 'missing_artifact' });
  expect(isRefused(reply) && reply.message).toMatch(/plan \(.*docs\/auth\.md.* does not exist: write it/);
  project.write({ 'docs/auth.md': 'again\n' });
  await runtime.call({ type: 'note', kind: 'artefact', key: 'spec_path', text: 'specs/gone.md' }, one, {
    run,
  });
  expect(told(await runtime.call({ type: 'advance', output: 'planned' }, one, { run })).step).toBe('build');
});

test('a briefing shows what is loaded; asked for again at once, it only names what is in context', async () => {
  const { run } = told(await runtime.start({ workflow: 'feature' }, one));
  const briefing = async (force = false) => {
    const source = await runtime.memory.gather(await viewOf(run), { ...telling, force });
    const compiled = compileBriefing(source, { tokens: 2500 });
    const shown = source.artifacts.filter(({ id }) => compiled.inlined.includes(id));
    await runtime.memory.record(await viewOf(run), one, shown, 'manual');
    return compiled;
  };
  expect((await briefing()).inlined).toEqual(['plan', 'repository']);
  now += 1000;
  expect(await briefing()).toMatchObject({ inlined: [], text: expect.stringContaining('in context since') });
  expect((await briefing(true)).inlined).toEqual(['plan', 'repository']);
  project.write({ 'docs/auth.md': '# Another plan\n' });
  expect((await briefing()).inlined).toContain('plan');
  // Nobody sees this session's resets, so after a while nothing is taken for granted.
  now += 600_000;
  expect((await briefing()).inlined).toEqual(['plan', 'repository']);
});

test('[004/7] a run that goes on elsewhere says what is not here as it was', async () => {
  const { run } = told(await runtime.start({ workflow: 'feature' }, one));
  await runtime.call({ type: 'note', kind: 'reading', text: '@docs/conventions.md', key: 'c' }, one, { run });
  await runtime.call({ type: 'note', kind: 'artefact', text: 'src/made.ts' }, one, { run });
  project.write({ 'docs/conventions.md': 'Write more tests.\n' });
  project.git('commit', '-qam', 'second');
  const env = { ...project.env, STEPFAST_MACHINE: 'machine-b' };
  const elsewhere = project.runtime({ env, clock: () => now });
  const found = await elsewhere.memory.differences(await viewOf(run), 'two');
  expect(found.map(({ kind }) => kind)).toEqual(['machine', 'commit', 'missing', 'reading']);
  const said = found.map(({ what }) => what).join(' ');
  expect(said).toMatch(/and this is machine-b\. The commit was [0-9a-f]{7} there and is [0-9a-f]{7} here\./);
  expect(said).toContain('Files that the run made are not here: src/made.ts.');
  expect(said).toContain('Changed since it was read: @docs/conventions.md.');
  const answer = await elsewhere.start({ run }, two);
  expect(answer.warning).toBe(said);
  const { sessions } = projectionOf(await viewOf(run));
  expect(sessions.session_history.map(({ environment }) => environment.hostname)).toContain('machine-b');
  for (const { environment } of sessions.session_history)
    expect(environment).toMatchObject({
      cwd: '{project_root}',
      git_commit: expect.stringMatching(/^[0-9a-f]{40}$/),
    });
});

test('evidence of another tree is told', async () => {
  project.write({
    '.stepfast/workflows/gated.yaml':
      'name: gated\ndescription: x\nsteps:\n  - { id: a, type: action, instructions: x, gate: [{ run: "true" }] }\n  - { id: b, type: action, instructions: y }\n',
  });
  project.trust('gated');
  const { run } = told(await runtime.start({ workflow: 'gated' }, one));
  told(await runtime.call({ type: 'advance', output: 'done' }, one, { run }));
  expect(await runtime.memory.differences(await viewOf(run), 'one')).toEqual([]);
  project.write({ 'src/new.ts': 'export {};\n' });
  expect(await runtime.memory.differences(await viewOf(run), 'one')).toEqual([
    { kind: 'evidence', what: 'Passed on another tree than the one here: true.' },
  ]);
});
