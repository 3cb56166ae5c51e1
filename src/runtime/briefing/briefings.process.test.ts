import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isServed } from '../../../test/kit/is-served.ts';
import { told } from '../../../test/kit/told.ts';
import { compileBriefing } from '../../context/index.ts';
import { projectState } from '../../store/index.ts';
import { createTestProject, type TestProject } from '../../testing/index.ts';
import { adopt } from '../adoption/adopt.ts';
import { findInformal } from '../adoption/find-informal-workflow.ts';
import type { Answer } from '../answer.ts';
import type { CallerIdentity } from '../call-context.ts';
import type { LocalRuntime } from '../open-runtime.ts';

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
const one: CallerIdentity = { session: 'one', host: 'scripted' };
const two: CallerIdentity = { session: 'two', host: 'scripted' };
const telling = { session: 'one', next: 'Go on.', more: 'ask for {section}' };

let project: TestProject;
let runtime: LocalRuntime;
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

const viewOf = async (run: string) => (await runtime.engine.view(run)) ?? expect.fail('the run');
const projectionOf = ({ definition, state }: Awaited<ReturnType<typeof viewOf>>) =>
  projectState(definition, state);
const ids = (answer: Answer) => answer.due?.map(({ id, trigger }) => `${id} ${trigger}`);

test('[004/6] what is due comes by itself: at the start of a session and at a phase transition, each once', async () => {
  const started = await runtime.start({ workflow: 'feature' }, one);
  const { run } = told(started);
  expect(ids(started)).toEqual(['plan session_start']);
  const text = await runtime.briefings.renderDue(
    await viewOf(run),
    one,
    started.due ?? [],
    'ask for {section}',
  );
  expect(text).toContain('# The plan');
  expect(ids(await runtime.call({ type: 'status' }, one, { run }))).toEqual([]);
  await runtime.call({ type: 'note', kind: 'artefact', key: 'spec_path', text: 'specs/login.md' }, one, {
    run,
  });
  now += 1000;
  const built = await runtime.call({ type: 'advance', output: 'planned' }, one, { run });
  expect(ids(built)).toEqual(['repository phase_transition', 'spec phase_transition:plan->build']);
  const brought = await runtime.briefings.renderDue(
    await viewOf(run),
    one,
    built.due ?? [],
    'ask for {section}',
  );
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

test('[004/8] a missing required artifact stops the workflow with a fix; a missing optional one does not', async () => {
  const { run } = told(await runtime.start({ workflow: 'feature' }, one));
  rmSync(join(project.root, 'docs/auth.md'));
  const { reply } = await runtime.call({ type: 'advance', output: 'planned' }, one, { run });
  expect(reply).toMatchObject({ code: 'missing_artifact' });
  expect(reply).toMatchObject({ params: { missing: [expect.stringMatching(/^plan \(.*docs\/auth\.md/)] } });
  project.write({ 'docs/auth.md': 'again\n' });
  await runtime.call({ type: 'note', kind: 'artefact', key: 'spec_path', text: 'specs/gone.md' }, one, {
    run,
  });
  expect(told(await runtime.call({ type: 'advance', output: 'planned' }, one, { run })).step).toBe('build');
});

test.skipIf(isServed)(
  'a briefing shows what is loaded; asked for again at once, it only names what is in context',
  async () => {
    const { run } = told(await runtime.start({ workflow: 'feature' }, one));
    const briefing = async (force = false) => {
      const source = await runtime.briefings.gather(await viewOf(run), { ...telling, force });
      const compiled = compileBriefing(source, { tokens: 2500 });
      const given = { artifacts: source.artifacts, ...compiled, trigger: 'manual' };
      await runtime.briefings.recordShown(await viewOf(run), one, given);
      return compiled;
    };
    expect((await briefing()).inlined).toEqual(['plan', 'repository']);
    now += 1000;
    expect(await briefing()).toMatchObject({
      inlined: [],
      text: expect.stringContaining('given to this session'),
    });
    expect((await briefing(true)).inlined).toEqual(['plan', 'repository']);
    project.write({ 'docs/auth.md': '# Another plan\n' });
    expect((await briefing()).inlined).toContain('plan');
    // No hooks report this session's resets, so after a while everything is sent again.
    now += 600_000;
    expect((await briefing()).inlined).toEqual(['plan', 'repository']);
  },
);

test('[004/7] a run that goes on elsewhere says what is not here as it was', async () => {
  const { run } = told(await runtime.start({ workflow: 'feature' }, one));
  await runtime.call({ type: 'note', kind: 'reading', text: '@docs/conventions.md', key: 'c' }, one, { run });
  await runtime.call({ type: 'note', kind: 'artefact', text: 'src/made.ts' }, one, { run });
  project.write({ 'docs/conventions.md': 'Write more tests.\n' });
  project.git('commit', '-qam', 'second');
  const env = { ...project.env, STEPFAST_MACHINE: 'machine-b' };
  const elsewhere = project.runtime({ env, clock: () => now });
  const found = await elsewhere.briefings.differences(await viewOf(run), 'two');
  expect(found.map(({ kind }) => kind)).toEqual(['machine', 'commit', 'missing', 'reading']);
  const said = found.map(({ what }) => what).join(' ');
  expect(said).toMatch(/this is machine-b\. The commit was [0-9a-f]{7} there and is [0-9a-f]{7} here: /);
  expect(said).toContain('Files that the run produced do not exist here: src/made.ts.');
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
  // The gates run in a process with the real clock.
  runtime = project.runtime();
  const { run } = told(await runtime.start({ workflow: 'gated' }, one));
  told(await runtime.call({ type: 'advance', output: 'done' }, one, { run, waitMs: 60_000 }));
  expect(await runtime.briefings.differences(await viewOf(run), 'one')).toEqual([]);
  project.write({ 'src/new.ts': 'export {};\n' });
  expect(await runtime.briefings.differences(await viewOf(run), 'one')).toEqual([
    { kind: 'evidence', what: 'Passed on another tree, not on this one: true.' },
  ]);
});

/** A project with one workflow more, and a run of it. */
async function started(yaml: string, who: CallerIdentity = one) {
  now += 1000;
  project.write({ '.stepfast/workflows/w.yaml': `name: w\ndescription: x\n${yaml}` });
  return told(await runtime.start({ workflow: 'w', summary: String(now) }, who));
}
const artifact = (rest: string) =>
  `critical_artifacts:\n  always_load:\n    - { id: a, type: markdown, ${rest} }\n`;
const twoSteps =
  'steps:\n  - { id: plan, type: action, instructions: Plan. }\n  - { id: build, type: action, instructions: Build. }\n';

test('M7: a required artifact whose condition cannot be decided makes the run wait with the error', async () => {
  const rest = 'path: x.md, required: true, condition: "size(state.nothing) > 0"';
  const { run } = await started(`${artifact(rest)}${twoSteps}`);
  const { reply } = await runtime.call({ type: 'advance', output: 'x' }, one, { run });
  expect(reply).toMatchObject({
    status: 'waiting',
    waiting: { for: 'blocked', by: 'human', reason: expect.stringContaining('size(state.nothing) > 0') },
  });
});

test('[004/8] nothing is demanded that cannot be there yet: a later phase, a condition that has no answer', async () => {
  const later = await started(
    `${artifact('path: late.md, required: true, reload_triggers: ["phase_start:build"]')}${twoSteps}`,
  );
  expect(told(await runtime.call({ type: 'advance', output: 'x' }, one, { run: later.run })).step).toBe(
    'build',
  );
  const refused = await runtime.call({ type: 'advance', output: 'y' }, one, { run: later.run });
  expect(refused.reply).toMatchObject({ code: 'missing_artifact' });
  const unclear = `path: x.md, required: true, on_error: ignore, condition: "outputs.plan.contains('spec')"`;
  const { run } = await started(`${artifact(unclear)}${twoSteps}`, two);
  expect(told(await runtime.call({ type: 'advance', output: 'a spec' }, two, { run })).step).toBe('build');
  const after = await runtime.call({ type: 'advance', output: 'z' }, two, { run });
  expect(after.reply).toMatchObject({ code: 'missing_artifact' });
});

test('[004/8] a task is asked for what its own condition says, in its own worktree', async () => {
  const yaml = `${artifact(`path: design.md, required: true, condition: "task.id == 't1'"`)}loops:\n  build: [{ id: code, instructions: Code. }]\nsteps:\n  - { id: build, type: loop, parallel: 2 }\n`;
  const { run } = await started(yaml);
  const tasks = [
    { id: 't1', title: 'One' },
    { id: 't2', title: 'Two' },
  ];
  await runtime.call({ type: 'setTasks', loop: 'build', tasks }, one, { run });
  const first = await runtime.call({ type: 'claim', holder: 'one', task: 't1' }, one, { run });
  const second = await runtime.call({ type: 'claim', holder: 'two', task: 't2' }, two, { run });
  const at = told(first).at ?? '';
  const advance = { type: 'advance' as const, output: 'done' };
  expect(told(await runtime.call({ ...advance, at: told(second).at ?? '' }, two, { run })).status).toBe(
    'running',
  );
  expect((await runtime.call({ ...advance, at }, one, { run })).reply).toMatchObject({
    code: 'missing_artifact',
  });
  writeFileSync(join(first.worktree ?? '', 'design.md'), 'The design\n');
  expect(told(await runtime.call({ ...advance, at }, one, { run })).status).toBe('complete');
});

test('[004/6] sessions do not take artifacts away from each other, and what cannot be shown is named once', async () => {
  const yaml = `${artifact('path: big.md')}${twoSteps}`;
  project.write({ 'big.md': 'A long line of it. '.repeat(2000) });
  const start = await started(yaml);
  const { run } = start;
  const look = (who: CallerIdentity) => runtime.call({ type: 'status', at: start.at ?? '' }, who, { run });
  for (const who of [one, two]) {
    const answer = await look(who);
    const text = await runtime.briefings.renderDue(
      await viewOf(run),
      who,
      answer.due ?? [],
      'ask for {section}',
    );
    expect(text).toContain('big.md');
    expect(text?.length).toBeLessThan(400);
  }
  expect([(await look(one)).due, (await look(two)).due]).toEqual([[], []]);
  const { context_metadata } = projectionOf(await viewOf(run));
  expect(context_metadata).toMatchObject({ reload_count: 2, artifacts_in_context: [] });
  const source = await runtime.briefings.gather(await viewOf(run), telling);
  expect(source.artifacts).toMatchObject([{ content: { state: 'loaded' } }]);
});

test('viewing a run of another worktree does not bind the session to it', async () => {
  const { run } = await started(`${artifact('path: README.md')}${twoSteps}`);
  project.git('worktree', 'add', '-q', '../elsewhere', '-b', 'elsewhere');
  const elsewhere = project.runtime({ cwd: join(project.root, '../elsewhere'), clock: () => now });
  const view = await viewOf(run);
  const { artifacts } = await elsewhere.briefings.gather(view, { ...telling, session: 'two' });
  await elsewhere.briefings.recordShown(view, two, {
    artifacts,
    listed: ['a'],
    inlined: ['a'],
    trigger: 'manual',
  });
  expect((await viewOf(run)).state.sessions).not.toHaveProperty('two');
  const { reply } = await elsewhere.call({ type: 'advance', output: 'x' }, two);
  expect(reply).toMatchObject({ code: 'several_runs' });
});

test('reading counts for the session that did it, until its context is emptied', async () => {
  const { run } = told(await runtime.start({ workflow: 'feature' }, one));
  await runtime.call({ type: 'note', kind: 'reading', text: '@docs/conventions.md' }, one, { run });
  const reading = async (session: string) =>
    (await runtime.briefings.gather(await viewOf(run), { ...telling, session })).reading[0]?.state;
  expect([await reading('one'), await reading('two')]).toEqual(['read', 'before']);
  now += 1000;
  await runtime.call({ type: 'boundary', by: 'hook', saw: 'compact' }, one, { run });
  expect(await reading('one')).toBe('before');
});

test('a note of a slash command is kept as one, also where its words are a path; a file that is not there is said', async () => {
  const yaml = `critical_artifacts:\n  always_load:\n    - { id: ticket, type: work_plugin, command: /issue 1, required: true }\n${twoSteps}`;
  const { run } = await started(yaml);
  const none = await runtime.call({ type: 'note', kind: 'reading', text: 'docs/nope.md' }, one, { run });
  expect(none.reply).toMatchObject({ code: 'no_file', params: { path: 'docs/nope.md' } });
  const advance = { type: 'advance' as const, output: 'x' };
  expect((await runtime.call(advance, one, { run })).reply).toMatchObject({ code: 'missing_artifact' });
  await runtime.call({ type: 'note', kind: 'reading', key: 'ticket', text: 'README.md' }, one, { run });
  expect(told(await runtime.call(advance, one, { run })).step).toBe('build');
});

test('[002/8] an adopted run follows its source: a phase that is written there is where the run stands', async () => {
  const source = (phase: string) => `# Workflow State\n\nWorkflow: Pages\nPhase: ${phase}\n`;
  project.write({ 'CLAUDE.local.md': source('4/5 - SEO') });
  const [informal] = findInformal(runtime.project);
  const place = { engine: runtime.engine, project: runtime.project, clock: () => now };
  const adopted = await adopt(place, informal ?? expect.fail('an informal workflow'), { session: 'one' });
  const run = 'run' in adopted ? adopted.run : expect.fail('adopted');
  const advance = () => runtime.call({ type: 'advance', output: `at ${now}` }, one, { run });
  expect((await advance()).reply).toMatchObject({
    code: 'unfinished',
    params: { source: 'CLAUDE.local.md', phase: 4, phases: 5 },
  });
  project.write({ 'CLAUDE.local.md': source('5/5 - Links') });
  now += 120_000;
  expect(told(await advance()).status).toBe('complete');
});

test('untrusted commands are reported before the work, and the worker is the session that worked', async () => {
  project.write({
    '.stepfast/workflows/gated.yaml':
      'name: gated\ndescription: x\nsteps:\n  - { id: a, type: action, instructions: x }\n  - { id: b, type: action, instructions: y, gate: [{ run: "true" }] }\n',
  });
  project.trust('gated');
  const { run } = told(await runtime.start({ workflow: 'gated' }, one));
  told(await runtime.call({ type: 'advance', output: 'done' }, one, { run }));
  const home = join(project.root, '../home-b');
  const env = { ...project.env, HOME: home, STEPFAST_MACHINE: 'machine-b' };
  const elsewhere = project.runtime({ env, home, clock: () => now });
  const kinds = async (session: string) =>
    (await elsewhere.briefings.differences(await viewOf(run), session)).map(({ kind }) => kind);
  expect(await kinds('two')).toEqual(['machine', 'trust']);
  await elsewhere.call({ type: 'session', event: { type: 'seen' } }, two, { run });
  expect(await kinds('three')).toEqual(['machine', 'trust']);
});

test('[002/8] a source that is gone no longer holds its run at a phase', async () => {
  project.write({ 'CLAUDE.local.md': '# Workflow State\n\nWorkflow: Pages\nPhase: 1/5 - Draft\n' });
  const [informal] = findInformal(runtime.project);
  const place = { engine: runtime.engine, project: runtime.project, clock: () => now };
  const adopted = await adopt(place, informal ?? expect.fail('an informal workflow'), { session: 'one' });
  const run = 'run' in adopted ? adopted.run : expect.fail('adopted');
  rmSync(join(project.root, 'CLAUDE.local.md'));
  const answer = await runtime.call({ type: 'advance', output: 'done' }, one, { run });
  expect(told(answer).status).toBe('complete');
});

test('a name of a missing file is told without its secret, also where the name is cut', async () => {
  const { run } = told(await runtime.start({ workflow: 'feature' }, one));
  const body = 'aZ09'.repeat(9);
  const text = `${'folder/'.repeat(15)}gh${'p_'}${body}.txt`;
  await runtime.call({ type: 'note', kind: 'artefact', text }, one, { run });
  const [found] = await runtime.briefings.differences(await viewOf(run), 'one');
  expect(found?.what).toContain('folder/');
  expect(found?.what).not.toContain(body.slice(0, 6));
});
