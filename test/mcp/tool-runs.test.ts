import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ArgumentProblem, Refused } from '../../src/messages/index.ts';
import { nextForTools, refusalText, toolVoice } from '../../src/messages/index.ts';
import type { TestProject } from '../../src/testing/index.ts';
import { type Connection, connect, createProject, eras } from './kit.ts';
import { asking, looped, parallel, plain, reviewed } from './workflows.ts';

const textOf = (refused: Refused) => refusalText(refused, toolVoice());
const _badArgument = (tool: string, problem: ArgumentProblem) =>
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

  it('[000/6] a context action is told first and saved before the answer, then the instructions', async () => {
    const first = await server.call('workflow_start', { workflow: 'plain', summary: 'x' });
    expect(first.S).toMatchObject({
      contextAction: '/clear',
      message: expect.stringContaining('Please run `/clear` first, then call workflow_status again.'),
    });
    expect(first.S.instructions).toBeUndefined();
    const [cursor] = Object.values((await project.runtime().engine.view(first.S.run))?.state.cursors ?? {});
    expect(cursor?.boundary?.state).toBe('requested');
    const second = await server.call('workflow_status');
    expect(second.S).toMatchObject({ instructions: 'Write the plan of x.' });
    expect(second.S.contextAction).toBeUndefined();
    expect(first.S.next).toBe(
      nextForTools({ do: 'reset_context', at: first.S.at, context: 'clear', required: false }),
    );
    const third = await server.call('workflow_advance', { output: 'planned' });
    expect(third.S).toMatchObject({ step: 'build', instructions: 'Build it.' });
    await end(first.S.run);
  });

  it('[000/13] a finished run answers its status, and a second start restores', async () => {
    const first = await server.call('workflow_start', { workflow: 'plain', summary: 'same' });
    const second = await server.call('workflow_start', { workflow: 'plain', summary: 'same' });
    expect(second.S).toMatchObject({ run: first.S.run, at: first.S.at, instructions: expect.any(String) });
    await server.call('workflow_advance', { output: 'planned' });
    const last = await server.call('workflow_advance', { output: 'built' });
    expect(last.S).toMatchObject({ status: 'complete', phase: { status: 'completed' } });
    expect(last.S.at).toBeUndefined();
    const repeated = await server.call('workflow_advance', { output: 'built' });
    expect(repeated.S).toMatchObject({ status: 'complete', replayed: true });
    expect((await server.call('workflow_status')).S).toMatchObject({ status: 'complete' });
    const late = await server.call('workflow_advance', { output: 'x', at: first.S.at });
    expect(late.S).toMatchObject({ status: 'complete', replayed: true });
    await end(first.S.run);
  });

  it('[U4] an advance where no run is live is refused, and joins none that has ended', async () => {
    const { run } = await start('plain', 'over');
    for (const output of ['planned', 'built']) {
      await server.call('workflow_status');
      await server.call('workflow_advance', { output });
    }
    expect((await server.call('workflow_status')).S).toMatchObject({ run, status: 'complete' });
    const other = await connect(project, era);
    const before = await project.runtime().engine.view(run);
    for (const each of [server, other]) {
      const refused = await each.call('workflow_advance', { output: 'something else' });
      expect(refused).toMatchObject({ isError: true, S: { code: 'no_run' } });
      const failed = await each.call('workflow_advance', { output: 'no way', failed: true });
      expect(failed).toMatchObject({ isError: true, S: { code: 'no_run' } });
    }
    const at = before?.state.outputs.build?.at.replace(/#\d+$/, '#9');
    await other.call('workflow_advance', { output: 'x', at });
    expect((await project.runtime().engine.view(run))?.version).toEqual(before?.version);
    await other.close();
    await end(run);
  });

  it('[A10] two claims of one process are two tasks', async () => {
    const { run } = await start('parallel', 'twice');
    const tasks = ['a', 'b'].map((id) => ({ id, title: id }));
    await server.call('workflow_set_tasks', { loop_id: 'read', tasks });
    const claim = () => server.call('workflow_claim', { run_id: run });
    const [one, two] = [await claim(), await claim()];
    expect([one.S, two.S]).toMatchObject([{ task: { id: 'a' } }, { task: { id: 'b' } }]);
    const next = expect.stringContaining(one.S.at);
    expect(await claim()).toMatchObject({ isError: true, S: { next } });
    expect((await server.call('workflow_advance', { output: 'seen', at: two.S.at })).isError).toBe(false);
    expect((await server.call('workflow_status', { at: one.S.at })).S).toMatchObject({ task: { id: 'a' } });
    await end(run);
  });
});
