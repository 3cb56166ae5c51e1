import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestFolder, type TestProject } from '../../testing/index.ts';
import { exit } from '../exit.ts';

const workflow = `name: feature
description: Plan and build
key_reminders: [Run the tests after each component]
critical_artifacts:
  always_load:
    - { id: workflow-state, type: json, path: ".stepfast/runs/{run_id}/state.json" }
    - { id: plan, type: markdown, path: docs/plan.md, description: The plan }
    - { id: ticket, type: work_plugin, command: /issue 12 }
    - { id: notes, type: markdown, path: docs/notes.md }
  conditional_load:
    - { id: spec, type: markdown, path_from_state: artifacts.spec_path, condition: state.artifacts.spec_path != null }
steps:
  - { id: plan, type: action, instructions: Plan it. }
  - { id: build, type: action, instructions: Build it. }
`;

let project: TestProject;
let now = 1_800_000_000_000;
const agent = (session = 'one') => ({
  env: { PATH: process.env.PATH, STEPFAST_SESSION: session, STEPFAST_MACHINE: `machine-${session}` },
  now: () => now,
});
beforeEach(async () => {
  project = createTestFolder({
    '.stepfast/workflows/feature.yaml': workflow,
    'docs/plan.md': '# The plan\n',
  });
  await project.run(['start', 'feature', '--summary', 'Log in'], agent());
});
afterEach(() => project[Symbol.dispose]());

const state = async () => {
  const { stdout } = await project.run(['runs', '--json'], agent());
  const [{ run }] = JSON.parse(stdout).runs;
  const file = join(project.root, '.stepfast/runs', run, 'state.json');
  return { run, ...JSON.parse(readFileSync(file, 'utf8')) };
};

test('[004/5] prime finds the run, loads its artifacts, records them and prints the briefing', async () => {
  const { code, stdout, stderr } = await project.run(['prime'], agent());
  expect([code, stderr]).toEqual([exit.ok, '']);
  expect(stdout).toMatch(/^✓ Context reloaded: feature-\d{8}-\w{8}\n {2}✓ State +phase 1\/2 plan, running\n/);
  expect(stdout).toMatch(/ {2}✓ workflow-state +@\.stepfast\/runs\/feature-/);
  expect(stdout).toContain('  ✓ plan             @docs/plan.md\n');
  expect(stdout).toContain(
    '  ◆ ticket           the agent runs /issue 12, then notes it (reading, ticket)\n',
  );
  expect(stdout).toMatch(/ {2}! notes +.*docs\/notes\.md.* does not exist/);
  expect(stdout).toContain('  ○ spec             not needed: its condition does not hold\n');
  expect(stdout).toContain('  ✓ Session history  1 session (machine-one)\n\nRUN\nBriefing b-');
  expect(stdout).toContain('# The plan');
  expect(stdout).toContain('✅ Workflow restored: feature, Phase 1/2');
  const { context_metadata } = await state();
  expect(context_metadata).toEqual({
    last_artifact_reload: new Date(now).toISOString(),
    reload_count: 1,
    artifacts_in_context: ['workflow-state', 'plan'].map((artifact_id) => ({
      artifact_id,
      loaded_at: new Date(now).toISOString(),
      load_trigger: 'manual',
    })),
  });
});

test('[004/5] --run-id names the run, --artifacts loads some, --force also what is in context', async () => {
  const { run } = await state();
  await project.run(['start', 'feature', '--summary', 'Another'], agent('two'));
  expect((await project.run(['prime'], agent('three'))).code).toBe(exit.no);
  await project.run(['prime', '--run-id', run], agent());
  now += 1000;
  const again = await project.run(['prime', '--run-id', run], agent());
  expect(again.stdout).toMatch(/✓ plan +@docs\/plan\.md: loaded just now; --force loads it again\n/);
  expect(again.stdout).not.toContain('# The plan');
  expect((await project.run(['prime', run, '--force'], agent())).stdout).toContain('# The plan');
  const only = await project.run(['prime', run, '--artifacts', 'plan'], agent());
  expect(only.stdout).toContain('# The plan');
  expect(only.stdout).not.toMatch(/ticket|INSTRUCTIONS/);
  const wrong = await project.run(['prime', run, '--artifacts', 'plam'], agent());
  expect(wrong).toMatchObject({ code: exit.usage, stderr: expect.stringContaining("'plan'") });
  expect((await project.run(['prime', run, '--run-id', run], agent())).code).toBe(exit.usage);
});

test('[004/6] an agent at a shell is told which artifacts are due, until it has them', async () => {
  const first = await project.run(['status'], agent());
  expect(first.stdout).toContain(
    'due      stepfast prime --artifacts workflow-state,plan,ticket,notes,spec\n',
  );
  expect(JSON.parse((await project.run(['status', '--json'], agent())).stdout).due).toContain('plan');
  await project.run(['prime'], agent());
  expect((await project.run(['status'], agent())).stdout).not.toContain('due ');
});

test('a section is told in full, a budget is held, and JSON has both', async () => {
  const section = await project.run(['prime', '--section', 'instructions'], agent());
  expect(section.stdout).toBe('INSTRUCTIONS\nPlan it.\n');
  expect((await project.run(['prime', '--section', 'instruction'], agent())).stderr).toContain(
    "'instructions'",
  );
  expect((await project.run(['prime', '--budget', '900'], agent())).stderr).toContain('at least 2500');
  const { stdout } = await project.run(['prime', '--json', '--characters', '9000'], agent());
  const document = JSON.parse(stdout);
  expect(document).toMatchObject({
    reloaded: expect.arrayContaining([expect.objectContaining({ id: 'plan', inlined: true })]),
    briefing: { id: expect.stringMatching(/^b-/), sections: expect.any(Array) },
  });
  expect(stdout).not.toContain('# The plan\\n"');
  expect((await project.run(['prime', '--markdown'], agent())).stdout).toContain('\n## INSTRUCTIONS\n');
});

test('--explain shows where the tokens go, as a table and as a picture', async () => {
  const { stdout } = await project.run(['prime', '--explain'], agent());
  expect(stdout).toMatch(/^Briefing b-\w{8} {2}[\d,]+ of 2,500 estimated tokens, [\d,]+ characters\n/);
  expect(stdout).toMatch(/^CRITICAL ARTIFACTS +█+ +[\d,]+ +\d+ %$/m);
  const file = join(project.root, 'briefing.svg');
  const drawn = await project.run(['prime', '--explain', '--output', 'briefing.svg'], agent());
  expect(drawn).toMatchObject({ code: exit.ok, stderr: 'Wrote briefing.svg\n' });
  const svg = readFileSync(file, 'utf8');
  expect(svg).toMatch(/^<svg /);
  expect(svg.match(/<rect /g)?.length).toBeGreaterThan(10);
  expect((await project.run(['prime', '--explain', '-o', 'b.png'], agent())).code).toBe(exit.usage);
  expect((await state()).context_metadata.reload_count).toBe(0);
});

test('[004/7] resume says what was restored, who worked where, and what is not here as it was', async () => {
  await project.run(['note', 'artefact', 'src/made.ts'], agent());
  const { stdout, code } = await project.run(['resume'], agent('two'));
  expect(code).toBe(exit.ok);
  expect(stdout).toMatch(/^✓ Context restored: feature-/);
  expect(stdout).toContain('  ✓ Session history  2 sessions (machine-one, machine-two)\n');
  expect(stdout).toContain('  ! The last session ran on machine-one; this is machine-two.\n');
  expect(stdout).toContain('  ! Files that the run produced do not exist here: src/made.ts.\n');
  const { sessions } = await state();
  expect(sessions.session_history).toMatchObject([
    { session_id: 'one', environment: { hostname: 'machine-one' } },
    { session_id: 'two', environment: { hostname: 'machine-two' } },
  ]);
});

test('[004/8] a large artifact warns and is named where there is no room for it', async () => {
  mkdirSync(join(project.root, 'docs'), { recursive: true });
  writeFileSync(
    join(project.root, 'docs/plan.md'),
    `# The plan\n${'A long line of the plan.\n'.repeat(4000)}`,
  );
  const { stdout } = await project.run(['prime'], agent());
  expect(stdout).toMatch(/○ plan +@docs\/plan\.md: too large \(\d+ KB\), listed only/);
  expect(stdout).toMatch(/- plan: The plan, @docs\/plan\.md/);
});
