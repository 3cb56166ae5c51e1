import { describe, expect, test } from 'vitest';
import { Run } from '../../test/kit/run.ts';
import { adoptedDefinition, slug } from './adopt.ts';

describe('adoption', () => {
  test('an informal workflow becomes a run with one step, and is updated by a second look', () => {
    const adopted = {
      source: 'CLAUDE.local.md',
      phase: { current: 4, total: 10, name: 'SEO Generation' },
      reading: ['@CLAUDE/PageOrchestration.md'],
      text: 'Keep {braces} as they are',
    };
    const definition = adoptedDefinition('Page Orchestration - Case Studies', adopted);
    expect(definition).toMatchObject({ name: 'page-orchestration-case-studies' });
    const run = new Run(definition, { start: false });
    const reply = run.send({ type: 'adopt', run: 'x-1-a', adopted, summary: 'Case studies' });
    expect(reply.instructions).toContain('Phase 4/10: SEO Generation.');
    expect(reply.instructions).toContain('Keep {braces} as they are');
    expect(run.state).toMatchObject({ adopted, summary: 'Case studies' });
    run.send({
      type: 'adopt',
      run: 'x-1-a',
      adopted: { ...adopted, phase: { current: 5, total: 10, name: 'Review' } },
    });
    expect(run.types()).toEqual(['run.adopted']);
    expect(run.state.adopted?.phase?.current).toBe(5);
  });

  test('names become lower case with hyphens', () => {
    expect(slug('  Feature: User Auth! ')).toBe('feature-user-auth');
    expect(slug('***')).toBe('workflow');
    expect(slug('x'.repeat(80))).toHaveLength(60);
  });
});
