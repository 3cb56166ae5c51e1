import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ArgumentProblem, Refused } from '../../src/messages/index.ts';
import { nextForTools, refusalText, toolVoice } from '../../src/messages/index.ts';
import type { TestProject } from '../../src/testing/index.ts';
import { type Connection, connect, createProject, eras } from './kit.ts';
import { asking, looped, parallel, plain, reviewed } from './workflows.ts';

const textOf = (refused: Refused) => refusalText(refused, toolVoice());
const badArgument = (tool: string, problem: ArgumentProblem) =>
  textOf({ code: 'bad_argument', params: { tool, problem } });

describe.each(eras)('over stdio in the %s era', (era) => {
  let project: TestProject;
  let server: Connection;

  beforeAll(async () => {
    project = createProject({ asking, plain, looped, parallel, reviewed });
    server = await connect(project, era);
  });
  afterAll(async () => {
    await server.close();
    project[Symbol.dispose]();
  });

  const start = async (workflow: string, summary = 'the work') => {
    const { S } = await server.call('workflow_start', { workflow, summary });
    return S;
  };
  const end = async (run: string) => {
    await project.runtime().engine.remove(run);
  };

  it('[P5/1] workflow_start answers S in text and structure alike, saved before, bound to its host', async () => {
    const { S, text, isError } = await server.call('workflow_start', { workflow: 'looped', summary: ' a ' });
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
    const view = await project.runtime().engine.view(S.run);
    expect(view?.state.summary).toBe('a');
    expect(Object.values(view?.state.sessions ?? {})).toMatchObject([{ host: 'test-host' }]);
    const restored = await server.call('workflow_start', { run_id: S.run });
    expect(restored.S.at).toBe(S.at);
    const unknown = await server.call('workflow_start', { workflow: 'loopde' });
    expect(unknown).toMatchObject({ isError: true, S: { code: 'no_workflow' } });
    expect(unknown.S.next).toMatch(/\basking \{ task, where\? \}, looped,/);
    const without = await server.call('workflow_start', { workflow: 'asking', summary: 'x' });
    expect(without.S).toEqual(
      textOf({ code: 'bad_input', params: { workflow: 'asking', name: 'task', why: 'missing' } }),
    );
    const badInputs = await server.call('workflow_start', { workflow: 'looped', inputs: { a: [1] } });
    expect(badInputs.S).toEqual(badArgument('workflow_start', { is: 'input_not_scalar', name: 'a' }));
    await end(S.run);
  });

  it('[P5/2] workflow_status answers with and without a handle, and refuses what it does not know', async () => {
    expect((await server.call('workflow_status')).S).toEqual(
      textOf({ code: 'no_run', params: { why: 'none_live' } }),
    );
    const { run, at } = await start('looped');
    expect((await server.call('workflow_status', { at })).S).toMatchObject({ at, run });
    expect((await server.call('workflow_status', {})).S).toMatchObject({ at, run });
    expect((await server.call('workflow_status', { at: null })).S).toMatchObject({ at });
    const stale = await server.call('workflow_status', { at: at.replace('#1', '#7') });
    expect(stale).toMatchObject({
      isError: true,
      S: { code: 'stale_handle', at, next: nextForTools({ do: 'continue', at: [at] }) },
    });
    expect(JSON.parse(stale.text)).toEqual(stale.S);
    const foreign = await server.call('workflow_status', { at: 'zzzzzzzz:work#1' });
    expect(foreign.S).toMatchObject({ code: 'no_run' });
    await end(run);
  });

  it('[P5/3] workflow_advance completes, fails and replays; what it cannot take says what to write', async () => {
    const { run, at } = await start('looped');
    const wrong = await server.call('workflow_advance', { output: 5, at });
    expect(wrong).toMatchObject({
      isError: true,
      S: badArgument('workflow_advance', {
        is: 'type',
        path: 'output',
        expected: 'a string',
        got: 'a value of type number',
      }),
    });
    const missing = await server.call('workflow_advance', { at });
    const { tools } = await server.client.listTools();
    const schema = tools.find(({ name }) => name === 'workflow_advance')?.inputSchema.properties?.output;
    const { description } = schema as { description: string };
    expect(missing.S).toEqual(
      badArgument('workflow_advance', { is: 'missing', path: 'output', description }),
    );
    const blank = await server.call('workflow_advance', { output: ' \n', at });
    expect(blank).toMatchObject({
      isError: true,
      S: badArgument('workflow_advance', { is: 'blank_output', failed: false }),
    });
    const slip = await server.call('workflow_advance', { outputs: 'x', at });
    expect(slip.S).toEqual(
      badArgument('workflow_advance', { is: 'unknown', path: 'outputs', nearest: 'output' }),
    );
    expect((await server.call('workflow_advance', { output: 'x', at })).S).toMatchObject({
      code: 'needs_tasks',
    });
    const tasks = [
      { id: 'a', title: 'A' },
      { id: 'b', title: 'B', depends_on: ['a'] },
    ];
    const set = await server.call('workflow_set_tasks', { loop_id: 'work', tasks });
    const done = await server.call('workflow_advance', { output: 'A is there', at: set.S.at });
    expect(done.S).toMatchObject({
      subStep: 'verify',
      contextAction: '/compact',
      agent: 'reviewer',
      delegate: true,
    });
    const again = await server.call('workflow_advance', { output: 'A is there', at: set.S.at });
    expect(again.S).toMatchObject({ replayed: true, at: done.S.at });
    await server.call('workflow_status', { at: done.S.at });
    const next = await server.call('workflow_advance', { output: 'seen', at: done.S.at });
    expect(next.S).toMatchObject({ task: { id: 'b', title: 'B', index: 1, total: 2 }, subStep: 'implement' });
    const failed = await server.call('workflow_advance', { output: 'no way', failed: true, at: next.S.at });
    expect(failed.S).toMatchObject({ step: 'ship' });
    const view = await project.runtime().engine.view(run);
    expect(view?.state.tasks.work?.byId.b?.end).toBe('failed');
    await end(run);
  });

  it('[P5/3] a verdict is given by another session than the one that did the work, and never by a person', async () => {
    const { run, at } = await start('reviewed');
    const waiting = await server.call('workflow_advance', { output: 'written', at });
    expect(waiting.S).toMatchObject({ status: 'waiting', waiting: { for: 'review', by: 'critic' } });
    const review = { do: 'wait', for: 'review', by: { agent: 'critic' }, at } as const;
    expect(waiting.S.next).toBe(nextForTools({ ...review, ownWork: true }));
    const verdict = { output: 'fine', verdict: 'approve' };
    expect((await server.call('workflow_advance', verdict)).S).toEqual(
      badArgument('workflow_advance', { is: 'verdict_without_at' }),
    );
    const own = await server.call('workflow_advance', { ...verdict, at });
    const ownWork: Refused = { code: 'own_work', params: { at, by: 'critic' }, at };
    expect(own).toMatchObject({ isError: true, S: refusalText(ownWork, toolVoice({ witnessed: false })) });
    const critic = await connect(project, era);
    expect((await critic.call('workflow_status', { at })).S.next).toBe(nextForTools(review));
    const revised = await critic.call('workflow_advance', { output: 'too long', verdict: 'revise', at });
    expect(revised.S.instructions).toBe('**[REVIEW_FEEDBACK]:** "too long"\n\nWrite it.');
    await server.call('workflow_advance', { output: 'shorter', at: revised.S.at });
    const approved = await critic.call('workflow_advance', {
      output: '',
      verdict: 'approve',
      at: revised.S.at,
    });
    expect(approved.S).toMatchObject({ step: 'sign' });
    const view = await project.runtime().engine.view(run);
    expect(view?.state.outputs.write?.reviewed).toBe('agent');
    const sign = approved.S.at;
    const signed = await server.call('workflow_advance', { output: 'signed', at: sign });
    const forPerson = { do: 'wait', for: 'review', by: 'person', at: sign } as const;
    expect(signed.S.next).toBe(nextForTools(forPerson));
    expect(signed.S.instructions).toBeUndefined();
    const unheard = await server.call('workflow_advance', { output: 'and more', at: sign });
    expect(unheard.S.next).toBe(nextForTools(forPerson, { ignored: true }));
    expect(unheard.S.next).not.toBe(signed.S.next);
    for (const each of [server, critic]) {
      const alone = await each.call('workflow_advance', { ...verdict, at: sign });
      expect(alone).toMatchObject({ isError: true, S: { code: 'person_only' } });
    }
    await critic.close();
    const odd = await server.call('workflow_advance', { output: '', verdict: 'aprove', at });
    expect(odd.S.code).toBe('bad_argument');
    expect(`${odd.S.message} ${odd.S.next}`).toMatch(/\baprove\b[\s\S]*\bapprove\b/);
    await end(run);
  });

  it('[P5/4] [A2] workflow_set_tasks takes the loop or the step, drops no task, and an empty list waits for a person', async () => {
    const { run } = await start('looped');
    const unknown = await server.call('workflow_set_tasks', { loop_id: 'wrok', tasks: [] });
    expect(unknown.S).toEqual(textOf({ code: 'unknown_loop', params: { given: 'wrok', loops: ['work'] } }));
    const untitled = await server.call('workflow_set_tasks', { loop_id: 'work', tasks: [{ id: 'a' }] });
    expect(untitled.S).toMatchObject({
      code: 'bad_argument',
      message: expect.stringContaining('tasks[0].title'),
    });
    const circle = [
      { id: 'a', title: 'A', depends_on: ['b'] },
      { id: 'b', title: 'B', depends_on: ['a'] },
    ];
    expect((await server.call('workflow_set_tasks', { loop_id: 'work', tasks: circle })).S.code).toBe(
      'bad_tasks',
    );
    const given = [{ id: 'a', title: 'A', description: null, depends_on: null }];
    const { S } = await server.call('workflow_set_tasks', { loop_id: 'work', tasks: given });
    expect(S).toMatchObject({ instructions: 'Implement A.', progress: { completedTasks: 0, totalTasks: 1 } });
    await end(run);
    await start('looped', 'again');
    const emptied = await server.call('workflow_set_tasks', { loop_id: 'work', tasks: [] });
    expect(emptied.S).toMatchObject({
      status: 'waiting',
      step: 'work',
      waiting: { for: 'review', by: 'human' },
    });
    expect((await server.call('workflow_set_tasks', { loop_id: 'work', tasks: given })).S).toMatchObject({
      status: 'running',
      task: { id: 'a' },
    });
    const left = await server.call('workflow_set_tasks', {
      loop_id: 'work',
      tasks: [{ id: 'b', title: 'B' }],
    });
    expect(left).toMatchObject({ isError: true, S: { code: 'task_left_out' } });
    const renamed = await server.call('workflow_set_tasks', {
      loop_id: 'work',
      tasks: [
        { id: 'a', title: 'Something easier' },
        { id: 'b', title: 'B' },
      ],
    });
    expect(renamed.S).toMatchObject({
      task: { title: 'A', total: 2 },
      warning: expect.stringContaining('a (A) is started'),
    });
    await end(emptied.S.run);
  });

  it('[P5/5] workflow_claim answers S and the worktree, and the handle outlives the server', async () => {
    const { run } = await start('parallel');
    const tasks = [
      { id: 'a', title: 'A' },
      { id: 'b', title: 'B' },
    ];
    const set = await server.call('workflow_set_tasks', { loop_id: 'read', tasks });
    expect(set.S).toMatchObject({ held: [], ready: ['a', 'b'] });
    expect(set.S.instructions).toBeUndefined();
    const { S } = await server.call('workflow_claim', { run_id: run, task: 'b' });
    expect(S).toMatchObject({ task: { id: 'b' }, instructions: 'Look at B.', worktree: project.root });
    const second = await connect(project, era);
    const taken = await second.call('workflow_claim', { run_id: run, task: 'b' });
    expect(taken).toMatchObject({ isError: true, S: { code: 'task_held' } });
    expect((await second.call('workflow_status')).S).not.toHaveProperty('at');
    const status = await second.call('workflow_status', { at: S.at });
    expect(status.S).toMatchObject({ at: S.at, instructions: 'Look at B.' });
    const told = await second.call('workflow_advance', { output: 'seen', at: S.at });
    expect(told.S).toMatchObject({ subStep: 'tell', instructions: 'Tell about B.' });
    const { at: before } = S;
    for (const [tool, given] of [
      ['workflow_status', {}],
      ['workflow_advance', { output: 'seen' }],
      ['workflow_advance', { output: 'other' }],
      ['workflow_context', {}],
    ] as const) {
      const { text } = await second.call(tool, { ...given, at: before });
      expect(text).not.toContain(told.S.at);
      expect(text).not.toContain('Tell about B.');
    }
    expect((await second.call('workflow_context', { section: 'tasks' })).text).toMatch(
      /- a \(ready\): A\n- b \(held by mcp-.*\): B/,
    );
    await second.close();
    expect((await server.call('workflow_claim', { run_id: 'nope' })).S.code).toBe('no_run');
    await end(run);
  });

  it('[P5/6] workflow_context tells all sections or one as text, and changes nothing', async () => {
    const { run, at } = await start('plain', 'login');
    await server.call('workflow_note', { kind: 'decision', text: 'use sessions', at });
    const before = await project.runtime().engine.view(run);
    const all = await server.call('workflow_context', {});
    expect(all.S).toEqual({});
    expect(all.text).toMatch(/^RUN\nBriefing b-\w{8} of run plain-/);
    expect(all.text).toContain(at);
    expect(all.text).toContain('Write the plan of login.');
    expect(all.text).toContain('decision n1: use sessions');
    expect(all.text).toContain('REQUIRED READING\n- @docs/conventions.md (missing)');
    expect(all.text).toContain('KEY REMINDERS\n- Run the tests');
    expect((await project.runtime().engine.view(run))?.version).toEqual(before?.version);
    const one = await server.call('workflow_context', { at, section: 'notes' });
    expect(one.text).not.toContain('INSTRUCTIONS');
    await server.call('workflow_status', { at });
    await server.call('workflow_advance', { output: 'the plan', at });
    expect((await server.call('workflow_context', { section: 'done' })).text).toContain(
      'DONE\n- plan (unverified; just now): the plan',
    );
    expect((await server.call('workflow_context', { section: 'outputs' })).text).toBe(
      'OUTPUT plan\nthe plan',
    );
    const odd = await server.call('workflow_context', { section: 'everything' });
    expect(`${odd.S.message} ${odd.S.next}`).toMatch(/\beverything\b/);
    expect(`${odd.S.message} ${odd.S.next}`).toMatch(/\bstatus, ?/);
    expect(odd.S.code).toBe('bad_argument');
    await end(run);
  });

  it('[P5/7] workflow_note keeps words under an id, and a question makes the run wait', async () => {
    const { run, at } = await start('looped');
    const first = await server.call('workflow_note', { kind: 'decision', text: 'A', key: 'x' });
    expect(first.S).toEqual({ ok: true, id: 'n1' });
    const replaced = await server.call('workflow_note', { kind: 'decision', text: 'B', key: 'x', at });
    expect(replaced.S).toEqual({ ok: true, id: 'n2' });
    expect((await server.call('workflow_note', { kind: 'variable', text: '1', key: 'k' })).S.ok).toBe(true);
    expect((await server.call('workflow_note', { kind: 'variable', text: '1' })).S).toMatchObject({
      code: 'bad_note',
    });
    expect((await server.call('workflow_note', { kind: 'idea', text: '1' })).S).toMatchObject({
      code: 'bad_argument',
    });
    const asked = await server.call('workflow_note', { kind: 'question', text: 'Which one?', at });
    expect(asked.S).toEqual({
      ok: true,
      id: 'q1',
      next: nextForTools({ do: 'wait', for: 'answer', at }),
    });
    const status = await server.call('workflow_status', { at });
    expect(status.S).toMatchObject({ status: 'waiting', waiting: { for: 'question', what: 'Which one?' } });
    await project
      .runtime()
      .call({ type: 'answer', text: 'The first' }, { actor: { kind: 'person' } }, { run });
    const answered = await server.call('workflow_status', { at });
    expect(answered.S.instructions).toContain('Question: Which one?\nAnswer: The first');
    const view = await project.runtime().engine.view(run);
    expect(view?.state.notes.map(({ text }) => text)).toContain('B');
    expect(view?.state.notes.map(({ text }) => text)).not.toContain('A');
    await end(run);
  });

  it('[P5/8] [003/8] update_todo_list replaces the whole list in a file, which is loaded on demand', async () => {
    const { run, at } = await start('looped');
    const file = join(project.root, '.stepfast', 'runs', run, 'TODO.md');
    expect((await server.call('update_todo_list', { content: '- [ ] one\n- [ ] two\n' })).S).toEqual({
      ok: true,
    });
    expect(readFileSync(file, 'utf8')).toBe('- [ ] one\n- [ ] two\n');
    const long = `- [x] one\n${'- [ ] more\n'.repeat(300)}`;
    await server.call('update_todo_list', { content: long, at });
    expect(readFileSync(file, 'utf8')).toBe(long);
    expect((await server.call('workflow_context', {})).text).not.toContain('[x] one');
    expect((await server.call('workflow_context', { section: 'todo' })).text).toContain('- [x] one');
    expect((await server.call('update_todo_list', { content: 'x', at: 'zzzzzzzz:a#1' })).S.code).toBe(
      'no_run',
    );
    await end(run);
  });
});
