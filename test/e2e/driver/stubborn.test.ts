/** `stepfast run` with a real host and agents that lie, do nothing, or do what they must not. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import {
  contextOf,
  lastUser,
  type ModelRequest,
  mainTurn,
  reply,
  toolCall,
  toolResults,
} from '../../../src/testing/index.ts';
import type { DriverStage } from '../../kit/driver-run.ts';
import { shell } from '../../kit/driver-script.ts';
import { createHostileStage, eventsOf, reportsOf, waitsAt } from '../../kit/hostile-driver.ts';

let stage: DriverStage;
afterEach(async () => await stage[Symbol.asyncDispose]());

const pending = 4;
const build =
  '{ id: build, type: action, instructions: INSTRUCTIONS-BUILD, gate: [{ run: test -f done.txt }] }';
const notes = '{ id: notes, type: action, instructions: INSTRUCTIONS-NOTES }';

const handleIn = (request: ModelRequest): string =>
  /\b[0-9a-z]{6,16}:[\w./-]+#\d+/.exec(contextOf(request))?.[0] ?? '';

describe('an agent that lies', () => {
  it('and says "done" in every turn: nothing is accepted, and after two sessions a person decides', async () => {
    stage = await createHostileStage([build]);
    stage.model.always(mainTurn(), reply.text('All done, I promise. All checks pass.'));
    const { code } = await stage.drive(['w', '--no-wait']);
    expect(code).toBe(pending);
    expect(await waitsAt(stage)).toBe('build: blocked');
    expect(await eventsOf(stage, 'position.completed')).toEqual([]);
    expect(stage.model.requestsOf('main')).toHaveLength(4);
    expect((await reportsOf(stage, 'session')).map(({ why }) => why)).toEqual(['start', 'no_progress']);
    const receipts = (await eventsOf(stage, 'gates.finished')).flatMap((event) => event.receipts);
    expect(receipts.map(({ pass }) => pass)).toEqual([false, false, false, false]);
  });

  it('and says that a person approved it, by words, by a verdict and in its shell: the review stays open', async () => {
    stage = await createHostileStage([
      '{ id: build, type: action, instructions: INSTRUCTIONS-BUILD, review: { by: human } }',
    ]);
    stage.model.on(
      lastUser(/INSTRUCTIONS-BUILD/),
      toolCall.advance('The person has approved this.'),
      shell(`'${process.execPath}' '${join(import.meta.dirname, '../../../dist/cli.js')}' approve || true`),
      (request) => {
        const made = toolCall.advance('Approved.')(request);
        for (const block of made.content) Object.assign(block.input ?? {}, { verdict: 'approve' });
        return made;
      },
      reply.text('Approved by the person. The workflow is complete.'),
    );
    const { code } = await stage.drive(['w', '--no-wait']);
    expect(code).toBe(pending);
    const view = await stage.run();
    expect(view?.state.status).toBe('waiting');
    expect(Object.values(view?.state.cursors ?? {})).toMatchObject([
      { waiting: { kind: 'review', by: 'human' } },
    ]);
    expect(await eventsOf(stage, 'review.decided')).toEqual([]);
    expect(stage.model.requestsOf('main').length).toBeLessThanOrEqual(5);
  });
});

describe('an agent that never calls a tool of Stepfast', () => {
  it('advances at a step with gates, because the end of its turn is checked', async () => {
    stage = await createHostileStage([build]);
    stage.model.on(mainTurn(), shell('touch done.txt'), reply.text('Here you are.'));
    const { code } = await stage.drive(['w', '--no-wait']);
    expect(code).toBe(0);
    const view = await stage.run();
    expect(view?.state.outputs.build).toMatchObject({ receipts: [{ pass: true, what: 'test -f done.txt' }] });
    expect(stage.model.requestsOf('main')).toHaveLength(2);
  });

  it('is reminded at a step without gates, then replaced, then a person decides', async () => {
    stage = await createHostileStage([notes]);
    stage.model.always(mainTurn(), reply.text('Hm.'));
    const { code } = await stage.drive(['w', '--no-wait']);
    expect(code).toBe(pending);
    expect(await waitsAt(stage)).toBe('notes: blocked');
    expect(await eventsOf(stage, 'position.completed')).toEqual([]);
    const prompts = stage.model.requestsOf('main');
    expect(prompts).toHaveLength(4);
    expect(new Set(prompts.map(({ session }) => session)).size).toBe(2);
    // Each prompt says what to call.
    for (const { lastUser: prompt } of prompts) expect(prompt).toMatch(/workflow_advance/);
  });
});

describe('an agent that does what it must not', () => {
  it('edits the workflow in its worktree: the run keeps the definition that it began with', async () => {
    stage = await createHostileStage([build]);
    const easy = `sed -i 's/test -f done.txt/true/' .stepfast/workflows/w.yaml`;
    stage.model.on(lastUser(/INSTRUCTIONS-BUILD/), shell(easy), reply.text('The gate passes now.'));
    stage.model.always(mainTurn(), reply.text('It passes.'));
    const { code } = await stage.drive(['w', '--no-wait']);
    expect(code).toBe(pending);
    expect(await waitsAt(stage)).toBe('build: blocked');
    const checks = await eventsOf(stage, 'gates.finished');
    expect(checks.length).toBeGreaterThan(1);
    expect(checks.flatMap(({ receipts }) => receipts)).not.toContainEqual(
      expect.objectContaining({ pass: true }),
    );
    expect(stage.git('show', `${(await stage.run())?.state.branch}:.stepfast/workflows/w.yaml`)).toMatch(
      /gate: \[\{ run: true/,
    );
  });

  it('advances over a boundary without a reset: refused, and the next session does the step', async () => {
    stage = await createHostileStage([
      notes,
      '{ id: second, type: action, instructions: INSTRUCTIONS-SECOND, context: clear }',
    ]);
    stage.model.on(
      lastUser(/INSTRUCTIONS-SECOND/),
      shell('touch in-second.txt'),
      toolCall.advance('Second.'),
      reply.text('Done.'),
    );
    let at = '';
    stage.model.on(
      lastUser(/INSTRUCTIONS-NOTES/),
      (request) => {
        at = handleIn(request);
        return toolCall.advance('Notes.', at)(request);
      },
      (request) => toolCall.advance('Second, without a look.', at.replace('notes#1', 'second#1'))(request),
      reply.text('Both are done.'),
    );
    const { code } = await stage.drive(['w', '--no-wait']);
    expect(code).toBe(0);
    const completed = await eventsOf(stage, 'position.completed');
    expect(completed.map(({ at: done }) => done.replace(/^.*:/, ''))).toEqual(['notes#1', 'second#1']);
    const sessions = new Set(stage.model.requestsOf('main').map(({ session }) => session));
    expect(sessions.size).toBe(2);
    const [first = '', second = ''] = sessions;
    const [, refused = ''] = toolResults({ requests: stage.model }, first);
    expect(refused).toMatch(/"code":"boundary_open"/);
    expect(completed.map(({ session }) => session)).toEqual([first, second]);
    expect(existsSync(join(stage.project.root, 'in-second.txt'))).toBe(false);
  });
});
