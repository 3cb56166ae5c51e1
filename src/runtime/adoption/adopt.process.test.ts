import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { costMeter } from '../../../test/kit/cpu-time.ts';
import { isServed } from '../../../test/kit/is-served.ts';
import { createTestProject, type TestProject } from '../../testing/index.ts';
import { isRefused } from '../answer.ts';
import type { LocalRuntime } from '../open-runtime.ts';
import { type Adoption, type AdoptOptions, adopt, lostSources, rescan } from './adopt.ts';
import { findInformal, readInformal } from './find-informal-workflow.ts';

const example = `# Current Workflow State

Workflow: Page Orchestration - Case Studies
Phase: 4/10 - SEO Generation

@CLAUDE/PageOrchestration.md
@CLAUDE/Sitemap/case-studies.md
`;
const plan = (name: string): string => `# ${name}\n\n**Status**: 🔄 In Progress\n\n## Phase 1: Design 🔄\n`;
const local = 'CLAUDE.local.md';

let project: TestProject;
let runtime: LocalRuntime;
beforeEach(() => {
  project = createTestProject();
  runtime = project.runtime();
});
afterEach(() => project[Symbol.dispose]());

const place = () => ({ engine: runtime.engine, project: runtime.project, clock: Date.now });
const find = () => findInformal(runtime.project);
async function adoptOnly(options?: AdoptOptions): Promise<Adoption> {
  const [only] = find();
  if (!only) throw new Error('nothing is found');
  const made = await adopt(place(), only, options);
  if ('code' in made) throw new Error(made.code);
  return made;
}
const stateJson = (run: string) =>
  JSON.parse(readFileSync(join(project.root, '.stepfast/runs', run, 'state.json'), 'utf8'));
const instructions = ({ reply }: Adoption): string => (isRefused(reply) ? '' : (reply.instructions ?? ''));

describe('finding', () => {
  test('[002/8] nothing there is nothing found', () => {
    expect(find()).toEqual([]);
    project.write({
      [local]: 'My own notes\n',
      'CLAUDE/Plan/README.md': 'x',
      'CLAUDE/Plan/a/x.md': plan('A'),
    });
    expect(find()).toEqual([]);
  });

  test('[002/8] CLAUDE.local.md comes first, then plans in progress, the newest first, whatever their names', () => {
    project.write({
      'CLAUDE/Plan/001-a/PLAN.md': plan('A'),
      'CLAUDE/Plan/Zebra & co/PLAN.md': plan('Z'),
      'CLAUDE/Plan/003-done/PLAN.md': plan('Done').replace('🔄 In Progress', '✅ Complete'),
      [local]: example,
    });
    utimesSync(join(project.root, 'CLAUDE/Plan/001-a/PLAN.md'), 1, 1);
    expect(find().map(({ source, name }) => [source, name])).toEqual([
      [local, 'Page Orchestration - Case Studies'],
      ['CLAUDE/Plan/Zebra & co/PLAN.md', 'Z'],
      ['CLAUDE/Plan/001-a/PLAN.md', 'A'],
    ]);
  });

  test('[002/8] line ends and byte order marks of other systems change nothing', () => {
    const file = 'CLAUDE/Plan/001-a/PLAN.md';
    const long = `${plan('A')}Forms and\n\n\n\ntokens\n`;
    project.write({ [local]: example, [file]: long });
    const plain = find();
    for (const end of ['\r\n', '\r']) {
      const other = (text: string): string => `\uFEFF${text.replaceAll('\n', end)}`;
      project.write({ [local]: other(example), [file]: other(long) });
      expect(find()).toEqual(plain);
    }
  });

  test('[002/8] of a huge file the opening is read, a binary one is none', () => {
    project.write({ [local]: `${example}${'ä\n'.repeat(2_000_000)}` });
    const spent = costMeter();
    expect(find()).toMatchObject([{ phase: { current: 4 } }]);
    expect(spent()).toBeLessThan(60);
    writeFileSync(join(project.root, local), Buffer.concat([Buffer.from(example), Buffer.from([0, 1, 2])]));
    expect(find()).toEqual([]);
    rmSync(join(project.root, local));
    mkdirSync(join(project.root, local));
    expect(find()).toEqual([]);
  });

  test('[002/8] no link leads out of the project', () => {
    const outside = join(project.root, '../outside');
    mkdirSync(join(outside, '001'), { recursive: true });
    writeFileSync(join(outside, local), example);
    writeFileSync(join(outside, '001/PLAN.md'), plan('Out'));
    symlinkSync(join(outside, local), join(project.root, local));
    mkdirSync(join(project.root, 'CLAUDE'));
    symlinkSync(outside, join(project.root, 'CLAUDE/Plan'));
    expect(find()).toEqual([]);
    expect(readInformal(runtime.project, '../outside/CLAUDE.local.md')).toHaveProperty('why');
  });

  test('[002/8] a file that is named may be anywhere in the project, and says what it lacks', () => {
    project.write({ 'docs/state.md': example, 'docs/half.md': 'Workflow: x\nPhase: 1/2' });
    expect(readInformal(runtime.project, 'docs/state.md')).toMatchObject({ source: 'docs/state.md' });
    expect(readInformal(runtime.project, 'docs/half.md')).toEqual({
      why: "describes no workflow: it lacks 'WORKFLOW STATE'",
    });
    expect(readInformal(runtime.project, 'docs/none.md')).toEqual({ why: 'is no text file of this project' });
  });
});

describe('adopting', () => {
  test.skipIf(isServed)(
    '[002/8] makes a run whose status and state.json say what the file says',
    async () => {
      project.write({ [local]: example });
      const made = await adoptOnly({ session: 'one', facts: { host: 'h', worktree: '{project_root}' } });
      expect(made.how).toBe('adopted');
      expect(made.run).toMatch(/^page-orchestration-case-studies-\d{8}-/);
      expect(instructions(made)).toContain('Phase 4/10: SEO Generation.');
      expect(stateJson(made.run)).toMatchObject({
        workflow: 'page-orchestration-case-studies (Page Orchestration - Case Studies)',
        phase: { current: 4, total: 10, name: 'SEO Generation', status: 'in_progress' },
        required_reading: ['@CLAUDE/PageOrchestration.md', '@CLAUDE/Sitemap/case-studies.md'],
        sessions: { current_session_id: 'one' },
      });
      expect(project.git('status', '--porcelain', '-uall')).toBe(`?? .stepfast/.gitignore\n?? ${local}\n`);
    },
  );

  test.skipIf(isServed)(
    '[002/8] a second look before a compaction sees the next phase, in the same run',
    async () => {
      project.write({ [local]: example });
      const first = await adoptOnly();
      const { created_at } = stateJson(first.run);
      project.write({ [local]: example.replace('4/10 - SEO Generation', '5/10 - Review') });
      const [second] = await rescan(place());
      expect(second).toMatchObject({ run: first.run, how: 'updated' });
      const status = await runtime.call({ type: 'status' }, { session: 'one' });
      expect(status.reply).toMatchObject({ instructions: expect.stringContaining('Phase 5/10: Review.') });
      expect(stateJson(first.run)).toMatchObject({ phase: { current: 5, total: 10 }, created_at });
      const entries = (await runtime.engine.entries(first.run)).length;
      expect(await rescan(place())).toMatchObject([{ run: first.run, how: 'unchanged' }]);
      expect(await runtime.engine.entries(first.run)).toHaveLength(entries);
    },
  );

  test('[002/4] a look before a compaction also makes the run, of one workflow where there are several', async () => {
    project.write({ [local]: example, 'CLAUDE/Plan/001-a/PLAN.md': plan('A') });
    const made = await rescan(place());
    expect(made).toMatchObject([{ how: 'adopted', run: expect.stringMatching(/^page-/) }]);
    expect(await rescan(place())).toMatchObject([{ how: 'unchanged' }]);
    expect(await runtime.engine.ids()).toHaveLength(1);
  });

  test('[002/5] several workflows are adopted side by side, each in its own directory', async () => {
    project.write({
      'CLAUDE/Plan/001-a/PLAN.md': plan('Plan A!'),
      'CLAUDE/Plan/002-b/PLAN.md': plan('Plan B'),
    });
    for (const informal of find()) await adopt(place(), informal);
    const runs = (await runtime.engine.ids()).sort();
    expect(runs).toEqual([expect.stringMatching(/^plan-a-\d/), expect.stringMatching(/^plan-b-\d/)]);
    project.write({
      'CLAUDE/Plan/002-b/PLAN.md': `${plan('Plan B').replace('🔄\n', '✅\n')}\n## Phase 2: Build 🔄\n`,
    });
    const looked = await rescan(place());
    expect(looked.map(({ run, how }) => [run, how]).sort()).toEqual([
      [runs[0], 'unchanged'],
      [runs[1], 'updated'],
    ]);
  });

  test('[002/8] a run that is live here is not disturbed, unless it is asked for', async () => {
    await runtime.start({ workflow: 'go', inputs: { task: 'x' } }, { session: 'one' });
    project.write({ [local]: example });
    const [informal] = find();
    if (!informal) throw new Error('nothing is found');
    expect(await adopt(place(), informal)).toMatchObject({ code: 'run_live' });
    expect(await rescan(place())).toEqual([]);
    expect(await runtime.engine.ids()).toHaveLength(1);
    expect(await adopt(place(), informal, { force: true })).toMatchObject({ how: 'adopted' });
    // Once adopted it is looked after beside the other.
    expect(await rescan(place())).toMatchObject([{ how: 'unchanged' }]);
  });

  test.skipIf(isServed)('[002/8] [M15] a source that says it is complete ends its run', async () => {
    project.write({ [local]: example });
    const { run } = await adoptOnly();
    project.write({ [local]: `${example.replace('4/10', '10/10')}\nStatus: ✅ Complete\n` });
    expect(await rescan(place())).toEqual([]);
    expect(stateJson(run)).toMatchObject({
      status: 'completed',
      phase: { current: 10, total: 10, status: 'completed' },
    });
    expect(await lostSources(place())).toEqual([]);
  });

  test('[M15] a plan that is no longer in progress ends its run', async () => {
    const file = 'CLAUDE/Plan/001-a/PLAN.md';
    project.write({ [file]: plan('A') });
    const { run } = await adoptOnly();
    project.write({ [file]: plan('A').replace('🔄 In Progress', '✅ Complete') });
    expect(await rescan(place())).toEqual([]);
    expect((await runtime.engine.view(run))?.state.status).toBe('complete');
  });

  test.each(['⏸️ Paused', '🔴 Blocked', 'not complete'])(
    '[M15] a plan that is %s does not end its run',
    async (word) => {
      const file = 'CLAUDE/Plan/001-a/PLAN.md';
      project.write({ [file]: plan('A') });
      const { run } = await adoptOnly();
      project.write({ [file]: plan('A').replace('🔄 In Progress', word) });
      expect(await rescan(place())).toEqual([]);
      expect(await lostSources(place())).toEqual([{ run, source: file, why: 'gone' }]);
      project.write({ [file]: '' });
      await rescan(place());
      expect((await runtime.engine.view(run))?.state.status).toBe('running');
    },
  );

  test('[002/8] a source that is gone leaves its run alone, and that is told', async () => {
    project.write({ [local]: example });
    const { run } = await adoptOnly();
    rmSync(join(project.root, local));
    expect(await rescan(place())).toEqual([]);
    expect(await lostSources(place())).toEqual([{ run, source: local, why: 'gone' }]);
    expect((await runtime.engine.view(run))?.state.status).toBe('running');
  });

  test('[002/8] what is complete is not adopted, and a finished run is not woken', async () => {
    project.write({ [local]: `${example}\nStatus: done\n` });
    const [over] = find();
    if (!over) throw new Error('nothing is found');
    expect(await adopt(place(), over)).toMatchObject({ code: 'source_complete' });
    expect(await rescan(place())).toEqual([]);
    project.write({ [local]: example.replace('4/10', '10/10') });
    const { run } = await adoptOnly();
    await runtime.call({ type: 'advance', output: 'done' }, {}, { run });
    expect(await adoptOnly()).toMatchObject({ how: 'adopted' });
    expect((await runtime.engine.view(run))?.state.status).toBe('complete');
  });

  test('two looks make one run, however late the first of them goes on', async () => {
    project.write({ [local]: example });
    const [informal] = find();
    if (!informal) throw new Error('nothing is found');
    // The first one has looked and found nothing; its moment is before that of the second.
    let second: ReturnType<typeof adopt> | undefined;
    const engine: LocalRuntime['engine'] = {
      ...runtime.engine,
      runs: async () => {
        const seen = await runtime.engine.runs();
        second ??= adopt({ ...place(), clock: () => 2000 }, informal);
        await second;
        return seen;
      },
    };
    const first = await adopt({ ...place(), engine, clock: () => 1000 }, informal);
    expect(await second).toMatchObject({ how: 'adopted' });
    expect(first).toMatchObject({ how: 'unchanged' });
    expect(await runtime.engine.ids()).toHaveLength(1);
    expect(readdirSync(join(project.root, '.stepfast/runs'))).toHaveLength(isServed ? 0 : 1);
  });

  test.skipIf(isServed)('[P4/9] each worktree has its own', async () => {
    project.git('worktree', 'add', '-q', '../linked');
    const linked = project.runtime({ cwd: join(project.root, '../linked') });
    const there = { ...place(), engine: linked.engine, project: linked.project };
    project.write({ [local]: example, '../linked/CLAUDE.local.md': example.replace('4/10', '9/10') });
    const { run } = await adoptOnly();
    const [informal] = findInformal(linked.project);
    if (!informal) throw new Error('nothing is found');
    expect(informal.source).toBe('../linked/CLAUDE.local.md');
    const second = await adopt(there, informal, { force: true });
    expect(second).toMatchObject({ how: 'adopted' });
    expect(stateJson(run).phase.current).toBe(4);
  });

  test('[002/6] a look never throws and writes nothing where nothing is found', async () => {
    expect(await rescan(place())).toEqual([]);
    expect(existsSync(join(project.root, '.stepfast'))).toBe(false);
    project.write({ [local]: example });
    const broken = { ...runtime.engine, runs: () => Promise.reject(new Error('disk')) };
    expect(await rescan({ ...place(), engine: broken })).toEqual([]);
    rmSync(project.root, { recursive: true });
    expect(await rescan(place())).toEqual([]);
  });
});
