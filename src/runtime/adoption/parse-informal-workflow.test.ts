import { describe, expect, test } from 'vitest';
import { costMeter } from '../../../test/kit/cpu-time.ts';
import {
  describedByMarkers,
  describedByPlan,
  isPlanInProgress,
  missingMarkers,
} from './parse-informal-workflow.ts';

/** Word for word from the document. */
const example = `# Current Workflow State

Workflow: Page Orchestration - Case Studies
Phase: 4/10 - SEO Generation

@CLAUDE/PageOrchestration.md
@CLAUDE/Sitemap/case-studies.md
`;
const nothing = () => false;
const described = (text: string, exists: (path: string) => boolean = nothing) =>
  describedByMarkers({ text, exists });
const planned = (text: string) =>
  describedByPlan({ text, exists: nothing }, '001-user-auth', 'CLAUDE/Plan/001-user-auth/PLAN.md');
const phaseOf = (line: string, more = '') =>
  described(`# Workflow State\nWorkflow: X\n${line}\n${more}`)?.phase;

describe('a file with markers', () => {
  test("[002/8] the document's own example is understood", () => {
    expect(described(example)).toEqual({
      name: 'Page Orchestration - Case Studies',
      phase: { current: 4, total: 10, name: 'SEO Generation' },
      reading: ['@CLAUDE/PageOrchestration.md', '@CLAUDE/Sitemap/case-studies.md'],
      text: 'Workflow: Page Orchestration - Case Studies',
      complete: false,
    });
  });

  test('[002/8] all three markers must be there, in any letter case and with any emphasis', () => {
    expect(described(example.toUpperCase())).toBeDefined();
    expect(described('**workflow state**\n**workflow**: x\n**phase**: 1/2')).toBeDefined();
    expect(described('WORKFLOW STATE\nPhase: 1/2 - a')).toBeUndefined();
    expect(described('WORKFLOW STATE\nWorkflow: a')).toBeUndefined();
    expect(described('Workflow: a\nPhase: 1/2 - a')).toBeUndefined();
    expect(described('')).toBeUndefined();
    expect(missingMarkers('Workflow: a')).toEqual(['WORKFLOW STATE', 'Phase:']);
  });

  test.each([
    ['Phase: 4/10 - SEO Generation', 4, 10, 'SEO Generation'],
    ['**Phase:** 4/10 – SEO Generation', 4, 10, 'SEO Generation'],
    ['- **Phase**: 4 / 10: SEO Generation', 4, 10, 'SEO Generation'],
    ['Current Phase: 4 of 10 (SEO Generation)', 4, 10, 'SEO Generation'],
    ['phase: Phase 4/10 SEO Generation', 4, 10, 'SEO Generation'],
    ['> Phase: [4/10] SEO Generation 🔄', 4, 10, 'SEO Generation'],
    ['| Phase | 4/10 — SEO Generation |\nPhase:', 4, 10, 'SEO Generation'],
    ['Phase: 4/10', 4, 10, 'Phase 4'],
    ['Phase: 12/10 - More', 12, 12, 'More'],
  ])('[002/8] %j is a phase', (line, current, total, name) => {
    expect(phaseOf(line)).toEqual({ current, total, name });
  });

  test('[002/8] a phase that is not told in numbers is not made up', () => {
    expect(phaseOf('Phase: SEO Generation')).toBeUndefined();
    expect(phaseOf('Phase: 4 - SEO')).toBeUndefined();
    expect(phaseOf('Phase: 0/10 - None')).toBeUndefined();
    expect(phaseOf('Phase: 4 - SEO', '## Phase 1\n## Phase 6: Last\n')).toEqual({
      current: 4,
      total: 6,
      name: 'SEO',
    });
  });

  test('[002/8] only the part about the workflow is taken', () => {
    const text = `Workflow: always branch\nPhase: none\n\n## WORKFLOW STATE\nWorkflow: Real\nPhase: 1/2 - A\nSkip the third part.\n\n## Private\nToken: abc @secret/file.md`;
    expect(described(text, () => true)).toMatchObject({
      name: 'Real',
      phase: { current: 1, total: 2, name: 'A' },
      reading: [],
      text: 'Workflow: Real\n\nSkip the third part.',
    });
  });

  test('[002/8] fields that stand elsewhere are found, and what stands around them is not kept', () => {
    const text = '# Mine\nToken: abc\nWorkflow: Real\nPhase: 1/2 - A\n# Workflow State\nSee above.';
    expect(described(text)).toMatchObject({
      name: 'Real',
      phase: { current: 1 },
      text: 'Workflow: Real\n\nSee above.',
    });
    expect(described(`${'x\n'.repeat(6000)}${example}`)).toBeUndefined();
  });

  test('[002/8] a long text is cut at a line, and says so', () => {
    const text = described(`${example}\n${'All work and no play.\n'.repeat(500)}`)?.text ?? '';
    expect(text.length).toBeLessThan(1600);
    expect(text).toMatch(/play\.\n…$/);
  });

  test('[002/8] files to read begin a line; inside a sentence or a code block they must be there', () => {
    const lines = [
      '- @docs/a.md',
      '2. `@docs/b.md`',
      '- [ ] @./docs/c.md.',
      'See @docs/there.md, @types/node and me@example.com or @someone.',
      '@../out.md',
      '@/etc/passwd',
      '@~/home.md',
      '@docs/a.md',
      '```',
      '@app.route',
      '```',
    ];
    expect(described(`${example}\n${lines.join('\n')}`, (path) => path === 'docs/there.md')?.reading).toEqual(
      [
        '@CLAUDE/PageOrchestration.md',
        '@CLAUDE/Sitemap/case-studies.md',
        '@docs/a.md',
        '@docs/b.md',
        '@docs/c.md',
        '@docs/there.md',
      ],
    );
  });

  test.each([
    ['Status: ✅ Complete', true],
    ['**Status**: completed', true],
    ['Status: not complete', false],
    ['Status: in progress', false],
    ['Status: not yet done', false],
    ['All is complete', false],
  ])('[002/8] %j says that it is over: %s', (line, complete) => {
    expect(described(`${example}\n${line}`)?.complete).toBe(complete);
  });

  test('no text costs more than its size', () => {
    const spaces = ' '.repeat(250_000);
    const texts = [
      `WORKFLOW STATE\nWorkflow: a${spaces}b\nPhase: a${spaces}b`,
      `${example}${'## Phase 1\n'.repeat(20_000)}`,
      `${example}${'@a/b '.repeat(50_000)}`,
      `# x\n🔄 In Progress phase\n${'🔄'.repeat(50_000)}${spaces}`,
    ];
    const spent = costMeter();
    for (const text of texts) expect(described(text) ?? planned(text)).toBeDefined();
    expect(spent()).toBeLessThan(60);
  });
});

describe('a plan', () => {
  const plan = `# Plan 001: User Authentication

**Status**: 🔄 In Progress
See @CLAUDE/PlanWorkflow.md

## Phase 1: Design ✅
Done.

## Phase 2: Build Components 🔄
- [x] Forms
- [ ] Tokens

## Phase 3: Test
`;

  test('[002/8] in progress tells its name, its phase, what to read and what the phase is about', () => {
    expect(planned(plan)).toEqual({
      name: 'Plan 001: User Authentication',
      phase: { current: 2, total: 3, name: 'Build Components' },
      reading: ['@CLAUDE/Plan/001-user-auth/PLAN.md'],
      text: 'Workflow: Plan 001: User Authentication\n\n## Phase 2: Build Components 🔄\n- [x] Forms\n- [ ] Tokens',
      complete: false,
    });
  });

  test('[002/8] needs both the status and a word about phases or a workflow', () => {
    expect(isPlanInProgress('🔄 In Progress\nthe workflow')).toBe(true);
    expect(isPlanInProgress('Status: 🔄 **IN PROGRESS**\nPhases')).toBe(true);
    expect(isPlanInProgress('🔄 In Progress\nsteps')).toBe(false);
    expect(isPlanInProgress('In Progress\nphase')).toBe(false);
    expect(isPlanInProgress('🔄 phase')).toBe(false);
  });

  test('[002/8] what it says of itself wins over a legend or an old part', () => {
    const legend = '## Legend\n🔄 In Progress, ✅ Done. Phases.';
    expect(isPlanInProgress(`# P\n**Status**: ✅ Complete\n${legend}`)).toBe(false);
    expect(isPlanInProgress(`# P\n| Status | 🔄 In Progress |\n${legend}`)).toBe(true);
    expect(isPlanInProgress(`# P\n## Phase 1\nStatus: ✅ Complete\n## Phase 2\nStatus: 🔄 In Progress`)).toBe(
      true,
    );
  });

  test('[002/8] without a title it has the name of its folder', () => {
    expect(planned('🔄 In Progress\nphase')).toMatchObject({ name: '001-user-auth' });
    expect(planned('# Title\n🔄 In Progress\nWorkflow: Named')).toMatchObject({ name: 'Named' });
  });
});
