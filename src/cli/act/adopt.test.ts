import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type RuntimeRefusalParams, refusalText, shellVoice } from '../../messages/index.ts';
import { createTestFolder } from '../../testing/index.ts';

const env = { STEPFAST_AGENT: '1' };
const example = `# Current Workflow State

Workflow: Page Orchestration - Case Studies
Phase: 4/10 - SEO Generation

@CLAUDE/PageOrchestration.md
@CLAUDE/Sitemap/case-studies.md
`;
const plan = (name: string): string => `# ${name}\nStatus: 🔄 In Progress\n## Phase 1: Design\n`;
const local = 'CLAUDE.local.md';

test('[002/8] what was found and made of it is shown, and the next look brings the run up to date', async () => {
  using project = createTestFolder({ [local]: example });
  const { code, stdout } = await project.run(['adopt'], { env });
  expect(code).toBe(0);
  expect(stdout).toMatch(/page-orchestration-case-studies-\d{8}-\w{8} {2}adopted from CLAUDE\.local\.md/);
  expect(stdout).toContain('workflow Page Orchestration - Case Studies\n');
  expect(stdout).toContain('phase    4/10 SEO Generation\n');
  expect(stdout).toContain(
    'reading  @CLAUDE/PageOrchestration.md\n         @CLAUDE/Sitemap/case-studies.md\n',
  );
  writeFileSync(join(project.root, local), example.replace('4/10 - SEO Generation', '5/10 - Review'));
  expect((await project.run(['adopt'], { env })).stdout).toContain('updated from');
  expect((await project.run(['status'], { env })).stdout).toContain('Phase 5/10: Review.');
  expect((await project.run(['adopt'], { env })).stdout).toContain('unchanged, from');
  expect(JSON.parse((await project.run(['runs', '--json'], { env })).stdout).runs).toHaveLength(1);
});

test('[002/8] where nothing is found it is said what is looked for, with an example', async () => {
  using project = createTestFolder({ [local]: 'My notes' });
  const { code, stderr } = await project.run(['adopt'], { env });
  expect(code).toBe(1);
  expect(stderr).toContain('CLAUDE.local.md with "WORKFLOW STATE"');
  expect(stderr).toContain('  Phase: 4/10 - SEO Generation');
  const json = await project.run(['adopt', '--json'], { env });
  expect(json.code).toBe(1);
  expect(JSON.parse(json.stdout)).toMatchObject({ code: 'nothing_found', found: [], lost: [] });
});

test('[002/8] of several the one that is named is adopted', async () => {
  using project = createTestFolder({ [local]: example, 'CLAUDE/Plan/001-auth/PLAN.md': plan('Auth') });
  const several = await project.run(['adopt'], { env });
  expect(several.code).toBe(1);
  expect(several.stderr).toContain('CLAUDE/Plan/001-auth/PLAN.md: Auth');
  expect(several.stderr).toContain('stepfast adopt <file>');
  const one = await project.run(['adopt', 'CLAUDE/Plan/001-auth/PLAN.md', '--json'], { env });
  expect(JSON.parse(one.stdout)).toMatchObject({
    how: 'adopted',
    name: 'Auth',
    source: 'CLAUDE/Plan/001-auth/PLAN.md',
    phase: { current: 1, total: 1, name: 'Design' },
    reading: ['@CLAUDE/Plan/001-auth/PLAN.md'],
  });
  const inside = { env, cwd: join(project.root, 'CLAUDE/Plan'), home: project.home };
  expect((await project.run(['adopt', '001-auth/PLAN.md'], inside)).stdout).toContain('unchanged');
});

test('[002/8] a file that describes no workflow, or is not of the project, is not found', async () => {
  using project = createTestFolder({ 'notes.md': 'Workflow: x' });
  const lacks = await project.run(['adopt', 'notes.md'], { env });
  expect(lacks).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("lacks 'WORKFLOW STATE', 'Phase:'"),
  });
  expect(await project.run(['adopt', 'none.md'], { env })).toMatchObject({ code: 3 });
  expect(await project.run(['adopt', '../out.md'], { env })).toMatchObject({ code: 3 });
});

test('[002/8] beside a live run it takes a person and --force; a source that is over is told', async () => {
  using project = createTestFolder();
  const { run } = JSON.parse((await project.run(['go', 'something', '--json'], { env })).stdout);
  writeFileSync(join(project.root, local), example);
  const textOf = (params: RuntimeRefusalParams['run_live']) =>
    refusalText({ code: 'run_live', params }, shellVoice());
  const adopt = async (args: string[], options: object) => {
    const { code, stdout } = await project.run(['adopt', ...args, '--json'], options);
    return { code, answer: JSON.parse(stdout) };
  };
  expect(await adopt([], { env })).toEqual({ code: 1, answer: textOf({ run, source: local }) });
  expect((await project.run(['adopt'], { env })).stderr).not.toContain('--force');
  expect(await adopt(['--force'], { env })).toMatchObject({ code: 1, answer: { code: 'person_only' } });
  const person = { terminal: true };
  const force = textOf({ run, source: local, force: true });
  expect(await adopt([], person)).toEqual({ code: 1, answer: force });
  expect((await project.run(['adopt', '--force'], person)).code).toBe(0);
  writeFileSync(join(project.root, local), 'done with it');
  const { stderr } = await project.run(['adopt'], { env });
  expect(stderr).toMatch(
    /no longer describes page-\S+, which is still active\. To end it: stepfast advance "done" --run/,
  );
});

test('no words of a file steer the terminal', async () => {
  const evil = '\u001b]0;owned\u0007\u202e';
  using project = createTestFolder({
    [local]: example.replace('Page', `Page${evil}`).replace('SEO', `SEO${evil}`),
  });
  for (const args of [['adopt'], ['adopt', '--json'], ['sessions'], ['status']]) {
    const { stdout, stderr } = await project.run(args, { env: { ...env, STEPFAST_SESSION: `s${evil}` } });
    expect(stdout + stderr).not.toMatch(/[^\P{Cc}\n]|\u202e/u);
  }
});
