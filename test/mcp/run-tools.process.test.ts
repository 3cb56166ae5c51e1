import { describe, expect, it } from 'vitest';
import type { ArgumentProblem, Refused } from '../../src/messages/index.ts';
import { nextForTools, refusalText, toolVoice } from '../../src/messages/index.ts';
import { connect, eras } from './kit.ts';
import { stdioServer } from './stdio-server.ts';

const textOf = (refused: Refused) => refusalText(refused, toolVoice());
const badArgument = (tool: string, problem: ArgumentProblem) =>
  textOf({ code: 'bad_argument', params: { tool, problem } });

describe.each(eras)('over stdio in the %s era', (era) => {
  const mcp = stdioServer(era);

  it('[P5/1] workflow_start answers S in text and structure alike, saved before, bound to its host', async () => {
    const { S, text, isError } = await mcp.call('workflow_start', { workflow: 'looped', summary: ' a ' });
    expect(isError).toBe(false);
    expect(JSON.parse(text)).toEqual(S);
    expect(S).toMatchObject({
      at: expect.stringMatching(/^[a-z0-9]{8}:work#1$/),
      status: 'running',
      step: 'work',
      stepType: 'loop',
      phase: { current: 1, total: 2, name: 'work', status: 'in_progress' },
      agent: null,
      progress: { currentStep: 1, totalSteps: 2 },
      instructions: '',
      next: nextForTools({ do: 'work', at: S.at, step: 'work', finish: 'set_tasks' }),
    });
    const view = await mcp.project.runtime().engine.view(S.run);
    expect(view?.state.summary).toBe('a');
    expect(Object.values(view?.state.sessions ?? {})).toMatchObject([{ host: 'test-host' }]);
    const restored = await mcp.call('workflow_start', { run_id: S.run });
    expect(restored.S.at).toBe(S.at);
    const unknown = await mcp.call('workflow_start', { workflow: 'loopde' });
    expect(unknown).toMatchObject({ isError: true, S: { code: 'no_workflow' } });
    expect(unknown.S.next).toMatch(/\basking \{ task, where\? \}, looped,/);
    const without = await mcp.call('workflow_start', { workflow: 'asking', summary: 'x' });
    expect(without.S).toEqual(
      textOf({ code: 'bad_input', params: { workflow: 'asking', name: 'task', why: 'missing' } }),
    );
    const inputs = { task: 'x', where: 'nowhere' };
    const refused = { why: 'not_allowed' as const, allowed: ['here', 'there'] };
    // [L/enum]
    expect((await mcp.call('workflow_start', { workflow: 'asking', inputs })).S).toEqual(
      textOf({ code: 'bad_input', params: { workflow: 'asking', name: 'where', ...refused } }),
    );
    const badInputs = await mcp.call('workflow_start', { workflow: 'looped', inputs: { a: [1] } });
    expect(badInputs.S).toEqual(badArgument('workflow_start', { is: 'input_not_scalar', name: 'a' }));
    await mcp.end(S.run);
  });

  it('[P5/2] workflow_status answers with and without a handle, and refuses what it does not know', async () => {
    expect((await mcp.call('workflow_status')).S).toEqual(
      textOf({ code: 'no_run', params: { why: 'none_live' } }),
    );
    const { run, at } = await mcp.start('looped');
    expect((await mcp.call('workflow_status', { at })).S).toMatchObject({ at, run });
    expect((await mcp.call('workflow_status', {})).S).toMatchObject({ at, run });
    expect((await mcp.call('workflow_status', { at: null })).S).toMatchObject({ at });
    const stale = await mcp.call('workflow_status', { at: at.replace('#1', '#7') });
    expect(stale).toMatchObject({
      isError: true,
      S: { code: 'stale_handle', at, next: nextForTools({ do: 'continue', at: [at] }) },
    });
    expect(JSON.parse(stale.text)).toEqual(stale.S);
    const foreign = await mcp.call('workflow_status', { at: 'zzzzzzzz:work#1' });
    expect(foreign.S).toMatchObject({ code: 'no_run' });
    await mcp.end(run);
  });

  it('[M8] workflow_advance without an output completes one position with each call', async () => {
    const { run } = await mcp.start('plain');
    await mcp.call('workflow_status');
    expect((await mcp.call('workflow_advance')).S).toMatchObject({ step: 'build' });
    expect((await mcp.call('workflow_advance', { output: null })).S).toMatchObject({ status: 'complete' });
    const view = await mcp.project.runtime().engine.view(run);
    expect(view?.state.outputs).toMatchObject({ plan: { text: '' }, build: { text: '' } });
  });

  it('[P5/3] workflow_advance completes, fails and replays; what it cannot take says what to write', async () => {
    const { run, at } = await mcp.start('looped');
    const wrong = await mcp.call('workflow_advance', { output: 5, at });
    expect(wrong).toMatchObject({
      isError: true,
      S: badArgument('workflow_advance', {
        is: 'type',
        path: 'output',
        expected: 'a string',
        got: 'a value of type number',
      }),
    });
    const blank = await mcp.call('workflow_advance', { failed: true, at });
    expect(blank).toMatchObject({
      isError: true,
      S: badArgument('workflow_advance', { is: 'blank_reason' }),
    });
    const slip = await mcp.call('workflow_advance', { outputs: 'x', at });
    expect(slip.S).toEqual(
      badArgument('workflow_advance', { is: 'unknown', path: 'outputs', nearest: 'output' }),
    );
    expect((await mcp.call('workflow_advance', { output: 'x', at })).S).toMatchObject({
      code: 'needs_tasks',
    });
    const tasks = [
      { id: 'a', title: 'A' },
      { id: 'b', title: 'B', depends_on: ['a'] },
    ];
    const set = await mcp.call('workflow_set_tasks', { loop_id: 'work', tasks });
    const done = await mcp.call('workflow_advance', { output: 'A is there', at: set.S.at });
    expect(done.S).toMatchObject({
      subStep: 'verify',
      contextAction: '/compact',
      agent: 'reviewer',
      delegate: true,
    });
    const again = await mcp.call('workflow_advance', { output: 'A is there', at: set.S.at });
    expect(again.S).toMatchObject({ replayed: true, at: done.S.at });
    await mcp.call('workflow_status', { at: done.S.at });
    const next = await mcp.call('workflow_advance', { output: 'seen', at: done.S.at });
    expect(next.S).toMatchObject({ task: { id: 'b', title: 'B', index: 1, total: 2 }, subStep: 'implement' });
    const failed = await mcp.call('workflow_advance', { output: 'no way', failed: true, at: next.S.at });
    expect(failed.S).toMatchObject({ step: 'ship' });
    const view = await mcp.project.runtime().engine.view(run);
    expect(view?.state.tasks.work?.byId.b?.end).toBe('failed');
    await mcp.end(run);
  });

  it('[P5/3] a verdict is given by another session than the one that did the work, and never by a person', async () => {
    const { run, at } = await mcp.start('reviewed');
    const waiting = await mcp.call('workflow_advance', { output: 'written', at });
    expect(waiting.S).toMatchObject({ status: 'waiting', waiting: { for: 'review', by: 'critic' } });
    const review = { do: 'wait', for: 'review', by: { agent: 'critic' }, at } as const;
    expect(waiting.S.next).toBe(nextForTools({ ...review, ownWork: true }));
    const verdict = { output: 'fine', verdict: 'approve' };
    expect((await mcp.call('workflow_advance', verdict)).S).toEqual(
      badArgument('workflow_advance', { is: 'verdict_without_at' }),
    );
    const own = await mcp.call('workflow_advance', { ...verdict, at });
    const ownWork: Refused = { code: 'own_work', params: { at, by: 'critic' }, at };
    expect(own).toMatchObject({ isError: true, S: refusalText(ownWork, toolVoice({ witnessed: false })) });
    const critic = await connect(mcp.project, era);
    expect((await critic.call('workflow_status', { at })).S.next).toBe(nextForTools(review));
    const revised = await critic.call('workflow_advance', { output: 'too long', verdict: 'revise', at });
    expect(revised.S.instructions).toBe('**[REVIEW_FEEDBACK]:** "too long"\n\nWrite it.');
    await mcp.call('workflow_advance', { output: 'shorter', at: revised.S.at });
    const approved = await critic.call('workflow_advance', {
      output: '',
      verdict: 'approve',
      at: revised.S.at,
    });
    expect(approved.S).toMatchObject({ step: 'sign' });
    const view = await mcp.project.runtime().engine.view(run);
    expect(view?.state.outputs.write?.reviewed).toBe('agent');
    const sign = approved.S.at;
    const signed = await mcp.call('workflow_advance', { output: 'signed', at: sign });
    const forPerson = { do: 'wait', for: 'review', by: 'person', at: sign } as const;
    expect(signed.S.next).toBe(nextForTools(forPerson));
    expect(signed.S.instructions).toBeUndefined();
    const unheard = await mcp.call('workflow_advance', { output: 'and more', at: sign });
    expect(unheard.S.next).toBe(nextForTools(forPerson, { ignored: true }));
    expect(unheard.S.next).not.toBe(signed.S.next);
    for (const each of [mcp, critic]) {
      const alone = await each.call('workflow_advance', { ...verdict, at: sign });
      expect(alone).toMatchObject({ isError: true, S: { code: 'person_only' } });
    }
    await critic.close();
    const odd = await mcp.call('workflow_advance', { output: '', verdict: 'aprove', at });
    expect(odd.S.code).toBe('bad_argument');
    expect(`${odd.S.message} ${odd.S.next}`).toMatch(/\baprove\b[\s\S]*\bapprove\b/);
    await mcp.end(run);
  });

  it('[000/6] a context action is told first and saved before the answer, then the instructions', async () => {
    const first = await mcp.call('workflow_start', { workflow: 'plain', summary: 'x' });
    expect(first.S).toMatchObject({
      contextAction: '/clear',
      message: expect.stringContaining('Please run `/clear` first, then call workflow_status again.'),
    });
    expect(first.S.instructions).toBeUndefined();
    const [cursor] = Object.values(
      (await mcp.project.runtime().engine.view(first.S.run))?.state.cursors ?? {},
    );
    expect(cursor?.boundary?.state).toBe('requested');
    const second = await mcp.call('workflow_status');
    expect(second.S).toMatchObject({ instructions: 'Write the plan of x.' });
    expect(second.S.contextAction).toBeUndefined();
    expect(first.S.next).toBe(
      nextForTools({ do: 'reset_context', at: first.S.at, context: 'clear', required: false }),
    );
    const third = await mcp.call('workflow_advance', { output: 'planned' });
    expect(third.S).toMatchObject({ step: 'build', instructions: 'Build it.' });
    await mcp.end(first.S.run);
  });

  it('[M13] a restarted server restores the only live run, without words or with others', async () => {
    const first = await mcp.start('plain');
    for (const given of [{}, { workflow: 'plain', summary: 'in other words' }]) {
      const restarted = await connect(mcp.project, era);
      expect((await restarted.call('workflow_start', given)).S).toMatchObject({
        run: first.run,
        restored: true,
      });
      await restarted.close();
    }
    const second = await mcp.call('workflow_start', { workflow: 'plain', summary: 'other work', new: true });
    expect(second.S.run).not.toBe(first.run);
    for (const { run } of [first, second.S]) await mcp.end(run);
  });

  it('[000/13] a finished run answers its status, and a second start restores', async () => {
    const first = await mcp.call('workflow_start', { workflow: 'plain', summary: 'same' });
    const second = await mcp.call('workflow_start', { workflow: 'plain', summary: 'same' });
    expect(second.S).toMatchObject({ run: first.S.run, at: first.S.at, instructions: expect.any(String) });
    await mcp.call('workflow_advance', { output: 'planned' });
    const last = await mcp.call('workflow_advance', { output: 'built' });
    expect(last.S).toMatchObject({ status: 'complete', phase: { status: 'completed' } });
    expect(last.S.at).toBeUndefined();
    const repeated = await mcp.call('workflow_advance', { output: 'built' });
    expect(repeated.S).toMatchObject({ status: 'complete', replayed: true });
    expect((await mcp.call('workflow_status')).S).toMatchObject({ status: 'complete' });
    const late = await mcp.call('workflow_advance', { output: 'x', at: first.S.at });
    expect(late.S).toMatchObject({ status: 'complete', replayed: true });
    await mcp.end(first.S.run);
  });

  it('[U4] an advance where no run is live is refused, and joins none that has ended', async () => {
    const { run } = await mcp.start('plain', 'over');
    for (const output of ['planned', 'built']) {
      await mcp.call('workflow_status');
      await mcp.call('workflow_advance', { output });
    }
    expect((await mcp.call('workflow_status')).S).toMatchObject({ run, status: 'complete' });
    const other = await connect(mcp.project, era);
    const before = await mcp.project.runtime().engine.view(run);
    for (const each of [mcp, other]) {
      const refused = await each.call('workflow_advance', { output: 'something else' });
      expect(refused).toMatchObject({ isError: true, S: { code: 'no_run' } });
      const failed = await each.call('workflow_advance', { output: 'no way', failed: true });
      expect(failed).toMatchObject({ isError: true, S: { code: 'no_run' } });
    }
    const at = before?.state.outputs.build?.at.replace(/#\d+$/, '#9');
    await other.call('workflow_advance', { output: 'x', at });
    expect((await mcp.project.runtime().engine.view(run))?.version).toEqual(before?.version);
    await other.close();
    await mcp.end(run);
  });
});
