import { describe, expect, it } from 'vitest';
import type { Refused } from '../../src/messages/index.ts';
import { refusalText, toolVoice } from '../../src/messages/index.ts';
import { connect, eras } from './kit.ts';
import { stdioServer } from './stdio-server.ts';

const textOf = (refused: Refused) => refusalText(refused, toolVoice());

describe.each(eras)('over stdio in the %s era', (era) => {
  const mcp = stdioServer(era);

  it('[P5/4] [A2] workflow_set_tasks takes the loop or the step, drops no task, and an empty list waits for a person', async () => {
    const { run } = await mcp.start('looped');
    const unknown = await mcp.call('workflow_set_tasks', { loop_id: 'wrok', tasks: [] });
    expect(unknown.S).toEqual(textOf({ code: 'unknown_loop', params: { given: 'wrok', loops: ['work'] } }));
    const untitled = await mcp.call('workflow_set_tasks', { loop_id: 'work', tasks: [{ id: 'a' }] });
    expect(untitled.S).toMatchObject({
      code: 'bad_argument',
      message: expect.stringContaining('tasks[0].title'),
    });
    const circle = [
      { id: 'a', title: 'A', depends_on: ['b'] },
      { id: 'b', title: 'B', depends_on: ['a'] },
    ];
    expect((await mcp.call('workflow_set_tasks', { loop_id: 'work', tasks: circle })).S.code).toBe(
      'bad_tasks',
    );
    const given = [{ id: 'a', title: 'A', description: null, depends_on: null }];
    const { S } = await mcp.call('workflow_set_tasks', { loop_id: 'work', tasks: given });
    expect(S).toMatchObject({ instructions: 'Implement A.', progress: { completedTasks: 0, totalTasks: 1 } });
    await mcp.end(run);
    await mcp.start('looped', 'again');
    const emptied = await mcp.call('workflow_set_tasks', { loop_id: 'work', tasks: [] });
    expect(emptied.S).toMatchObject({
      status: 'waiting',
      step: 'work',
      waiting: { for: 'review', by: 'human' },
    });
    expect((await mcp.call('workflow_set_tasks', { loop_id: 'work', tasks: given })).S).toMatchObject({
      status: 'running',
      task: { id: 'a' },
    });
    const left = await mcp.call('workflow_set_tasks', {
      loop_id: 'work',
      tasks: [{ id: 'b', title: 'B' }],
    });
    expect(left).toMatchObject({ isError: true, S: { code: 'task_left_out' } });
    const renamed = await mcp.call('workflow_set_tasks', {
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
    await mcp.end(emptied.S.run);
  });

  it('[P5/5] workflow_claim answers S and the worktree, and the handle outlives the server', async () => {
    const { run } = await mcp.start('parallel');
    const tasks = [
      { id: 'a', title: 'A' },
      { id: 'b', title: 'B' },
    ];
    const set = await mcp.call('workflow_set_tasks', { loop_id: 'read', tasks });
    expect(set.S).toMatchObject({ held: [], ready: ['a', 'b'] });
    expect(set.S.instructions).toBeUndefined();
    const { S } = await mcp.call('workflow_claim', { run_id: run, task: 'b' });
    expect(S).toMatchObject({ task: { id: 'b' }, instructions: 'Look at B.', worktree: mcp.project.root });
    const second = await connect(mcp.project, era);
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
    expect((await mcp.call('workflow_claim', { run_id: 'nope' })).S.code).toBe('no_run');
    await mcp.end(run);
  });

  it('[A10] two claims of one process are two tasks', async () => {
    const { run } = await mcp.start('parallel', 'twice');
    const tasks = ['a', 'b'].map((id) => ({ id, title: id }));
    await mcp.call('workflow_set_tasks', { loop_id: 'read', tasks });
    const claim = () => mcp.call('workflow_claim', { run_id: run });
    const [one, two] = [await claim(), await claim()];
    expect([one.S, two.S]).toMatchObject([{ task: { id: 'a' } }, { task: { id: 'b' } }]);
    const next = expect.stringContaining(one.S.at);
    expect(await claim()).toMatchObject({ isError: true, S: { next } });
    expect((await mcp.call('workflow_advance', { output: 'seen', at: two.S.at })).isError).toBe(false);
    expect((await mcp.call('workflow_status', { at: one.S.at })).S).toMatchObject({ task: { id: 'a' } });
    await mcp.end(run);
  });
});
