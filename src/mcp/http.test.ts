import { expect, it } from 'vitest';
import type { Era, HttpConnection, Team } from '../../test/kit/server/mcp-http.ts';
import { connected, teamUp } from '../../test/kit/server/mcp-team.ts';
import { gated, looped, parallel, plain, reviewed } from '../../test/mcp/workflows.ts';
import { formatHandle } from '../machine/index.ts';
import { nextForTools, toolVoice } from '../messages/index.ts';

const eras: readonly Era[] = ['2025', '2026'];

/** Gate results as a runner with a checkout reports them. */
async function report(team: Team, run: string, pass: boolean): Promise<void> {
  const engine = team.engine(1);
  const caller = { now: Date.now(), actor: { kind: 'engine' as const } };
  const runner = { pid: 1, host: 'laptop' };
  const view = await engine.view(run);
  const checking = Object.values(view?.state.cursors ?? {}).find((cursor) => cursor.checking)?.checking;
  const id = checking?.id ?? '';
  await engine.execute(run, { ...caller, type: 'gatesStarted', id, runner });
  const receipts = (checking?.gates ?? []).map((_, gate) => ({ gate, pass, tail: pass ? '' : 'not there' }));
  await engine.execute(run, { ...caller, type: 'gatesFinished', id, runner, receipts });
}

it.each(eras)('all eight tools work against a server without a tree (%s era)', async (era) => {
  const team = teamUp();
  for (const workflow of [plain, looped, parallel]) await team.pin(1, workflow);
  const { client, call } = await connected(await team.serve(), 'ann@1', { era });
  expect((await client.listTools()).tools).toHaveLength(8);

  const started = await call('workflow_start', { workflow: 'looped', summary: 'over HTTP' });
  expect(started).toMatchObject({ isError: false, S: { step: 'work', stepType: 'loop' } });
  const { run } = started.S;
  const tasks = [
    { id: 'one', title: 'One' },
    { id: 'two', title: 'Two' },
  ];
  const set = await call('workflow_set_tasks', { loop_id: 'work', tasks });
  expect(set.S).toMatchObject({ run, task: { id: 'one' }, instructions: 'Implement One.' });
  expect((await call('workflow_status')).S).toMatchObject({ run, at: set.S.at });
  expect((await call('workflow_note', { kind: 'decision', text: 'No cache.' })).S).toEqual({
    ok: true,
    id: 'n1',
  });
  expect((await call('update_todo_list', { content: '- [ ] one' })).S).toEqual({ ok: true });
  expect((await call('workflow_context', { section: 'todo' })).text).toContain('- [ ] one');
  const briefing = await call('workflow_context', { at: set.S.at });
  expect(briefing.text).toContain('No cache.');
  expect(briefing.text).toContain('Implement One.');
  const next = await call('workflow_advance', { at: set.S.at, output: 'done one' });
  expect(next.S).toMatchObject({ subStep: 'verify', contextAction: '/compact' });
  expect(await call('workflow_advance', { at: set.S.at, output: 'done one' })).toMatchObject({
    isError: false,
    S: { replayed: true, subStep: 'verify' },
  });

  const shared = await call('workflow_start', { workflow: 'parallel', summary: 'shared' });
  const unclear = await call('workflow_set_tasks', { loop_id: 'read', tasks });
  expect(unclear.S).toMatchObject({ code: 'several_runs', runs: expect.any(Array) });
  await call('workflow_set_tasks', { loop_id: 'read', tasks, at: shared.S.at });
  const claimed = await call('workflow_claim', { run_id: shared.S.run, task: 'two' });
  expect(claimed.S).toMatchObject({ task: { id: 'two' }, instructions: 'Look at Two.' });
  expect(claimed.S).not.toHaveProperty('worktree');
  expect(team.errors).toEqual([]);
});

it.each(eras)('two servers answer one conversation in turns (%s era)', async (era) => {
  const team = teamUp();
  await team.pin(1, plain);
  const { call, asked } = await connected([await team.serve(), await team.serve()], 'ann@1', { era });
  const { S } = await call('workflow_start', { workflow: 'plain', summary: 'in turns' });
  expect(S).toMatchObject({ step: 'plan', contextAction: '/clear' });
  // Without a handle: both must take the caller for the same session.
  for (let times = 0; times < 3; times += 1)
    expect((await call('workflow_status')).S).toMatchObject({
      run: S.run,
      instructions: 'Write the plan of in turns.',
    });
  expect((await call('workflow_advance', { output: 'planned' })).S).toMatchObject({ step: 'build' });
  expect((await call('workflow_advance', { output: 'built' })).S).toMatchObject({ status: 'complete' });
  expect((await call('workflow_status')).S).toMatchObject({ run: S.run, status: 'complete' });
  expect(new Set(asked)).toEqual(new Set([0, 1]));
});

it.each(eras)('a call without a handle means only a run of the caller (%s era)', async (era) => {
  const team = teamUp();
  const foreign = await team.pin(1, plain);
  const url = await team.serve();
  const ann = await connected(url, 'ann@1', { era });
  const bob = await connected(url, 'bob@1', { era });
  for (const tool of ['workflow_status', 'workflow_context']) {
    const refused = await ann.call(tool);
    expect(refused).toMatchObject({ isError: true, S: { code: 'no_run' } });
    expect(refused.text).toContain(toolVoice().startOrContinue());
    expect(refused.text).not.toContain(foreign);
  }
  const { S } = await ann.call('workflow_start', { workflow: 'plain', summary: 'of Ann' });
  expect((await ann.call('workflow_status')).S.run).toBe(S.run);
  const refused = await bob.call('workflow_advance', { output: 'planned' });
  expect(refused).toMatchObject({ isError: true, S: { code: 'no_run' } });
  expect(refused.text).not.toContain(S.run);
  const { resources } = await ann.client.listResources();
  expect(resources.map(({ uri }) => uri)).toEqual([
    'stepfast://workflows',
    'stepfast://runs',
    `stepfast://runs/${S.run}`,
  ]);
  const [runs] = (await bob.client.readResource({ uri: 'stepfast://runs' })).contents;
  expect(JSON.parse(runs && 'text' in runs ? runs.text : '')).toEqual({ runs: [] });
  // By its name it is the project's: another agent may go on with it.
  expect((await bob.call('workflow_start', { run_id: S.run })).S).toMatchObject({
    run: S.run,
    restored: true,
  });
  expect((await bob.call('workflow_status')).S.run).toBe(S.run);
  await ann.call('workflow_start', { workflow: 'plain', summary: 'another' });
  const several = await ann.call('workflow_status');
  expect(several.S).toMatchObject({ code: 'several_runs' });
  expect(several.text).not.toContain(foreign);
});

it.each(eras)('a token of one project gets nothing of another (%s era)', async (era) => {
  const team = teamUp();
  await team.pin(1, looped);
  const url = await team.serve();
  const ann = await connected(url, 'ann@1', { era });
  const eve = await connected(url, 'ann@2', { era });
  const { S } = await ann.call('workflow_start', { workflow: 'looped', summary: 'SECRET-WORDS' });
  const calls: [tool: string, given: Record<string, unknown>][] = [
    ['workflow_start', { run_id: S.run }],
    ['workflow_start', { workflow: 'looped' }],
    ['workflow_status', { at: S.at }],
    ['workflow_status', {}],
    ['workflow_advance', { at: S.at, output: 'x' }],
    ['workflow_advance', { at: S.at, output: 'x', verdict: 'approve' }],
    ['workflow_set_tasks', { loop_id: 'work', tasks: [] }],
    ['workflow_claim', { run_id: S.run }],
    ['workflow_context', { at: S.at }],
    ['workflow_note', { kind: 'decision', text: 'x', at: S.at }],
    ['update_todo_list', { content: 'x', at: S.at }],
  ];
  const { tools } = await eve.client.listTools();
  expect(new Set(calls.map(([tool]) => tool))).toEqual(new Set(tools.map(({ name }) => name)));
  const before = JSON.stringify(await team.engine(1).runs());
  for (const [tool, given] of calls) {
    const { isError, text } = await eve.call(tool, given);
    expect({ tool, isError }).toEqual({ tool, isError: true });
    expect(text).not.toContain('SECRET-WORDS');
    if (given.workflow !== 'looped') expect(text).not.toContain('looped ');
  }
  const { resources } = await eve.client.listResources();
  expect(resources).toHaveLength(2);
  for (const uri of [`stepfast://runs/${S.run}`, `stepfast://runs/${S.run}/briefing`])
    await expect(eve.client.readResource({ uri })).rejects.toThrow();
  expect(JSON.stringify(await team.engine(1).runs())).toBe(before);
  expect(await team.engine(2).runs()).toEqual([]);
});

it.each(eras)(
  'gates wait for a runner with a checkout and never pass by themselves (%s era)',
  async (era) => {
    let ahead = 0;
    const team = teamUp({ clock: () => Date.now() + ahead });
    await team.pin(1, gated);
    const { call } = await connected(await team.serve(), 'ann@1', { era });
    const { S } = await call('workflow_start', { workflow: 'gated', summary: 'no tree' });
    const advance = () => call('workflow_advance', { at: S.at, output: 'made done.txt' });
    const asked = await advance();
    expect(asked.S).toMatchObject({ checking: true, step: 'make' });
    const suffix = S.run.split('-').at(-1);
    expect(asked.S.warning).toContain(`stepfast status ${suffix} --wait`);
    expect(asked.S.next).toBe(nextForTools({ do: 'wait', for: 'gates', at: S.at }, { gatesElsewhere: true }));
    expect((await advance()).S).toMatchObject({ checking: true, step: 'make' });
    expect((await call('workflow_status')).S).toMatchObject({ checking: true, warning: asked.S.warning });

    await report(team, S.run, false);
    const red = await call('workflow_status', { at: S.at });
    expect(red.S).toMatchObject({ step: 'make', failed_gates: [{ gate: 'done.txt', tail: 'not there' }] });

    expect((await advance()).S).toMatchObject({ checking: true });
    ahead = 86_400_000;
    const late = await call('workflow_status', { at: S.at });
    expect(late.S).toMatchObject({ step: 'make', at: S.at, interrupted: true });
    expect(late.S).not.toHaveProperty('checking');

    expect((await advance()).S).toMatchObject({ checking: true });
    ahead = 86_400_000 - 1000;
    await report(team, S.run, true);
    expect((await call('workflow_status')).S).toMatchObject({ step: 'slow' });
  },
);

it('a call waits for gates that run elsewhere as long as the server lets it', async () => {
  const team = teamUp();
  await team.pin(1, gated);
  const { call } = await connected(await team.serve({ waitMs: 60_000 }), 'ann@1');
  const { S } = await call('workflow_start', { workflow: 'gated' });
  const advanced = call('workflow_advance', { at: S.at, output: 'made done.txt' });
  await expect
    .poll(async () => JSON.stringify((await team.engine(1).view(S.run))?.state.cursors))
    .toContain('"checking"');
  await report(team, S.run, true);
  expect((await advanced).S).toMatchObject({ step: 'slow' });
});

it.each(eras)('decisions of a person are refused over MCP, whatever the token (%s era)', async (era) => {
  const team = teamUp();
  await team.pin(1, reviewed);
  const url = await team.serve();
  const agent = await connected(url, 'bot@1', { era });
  const { S } = await agent.call('workflow_start', { workflow: 'reviewed', summary: 'signed' });
  const own = await agent.call('workflow_advance', { at: S.at, output: 'written' });
  expect(own.S).toMatchObject({ waiting: { for: 'review', by: 'critic' } });
  const verdict = { at: S.at, output: 'good', verdict: 'approve' };
  expect((await agent.call('workflow_advance', verdict)).S).toMatchObject({ code: 'own_work' });
  // A token named like the reviewer is no way around it.
  const critic = await connected(url, 'critic@1', { era });
  const written = await critic.call('workflow_start', { workflow: 'reviewed', summary: 'by the critic' });
  await critic.call('workflow_advance', { at: written.S.at, output: 'written' });
  expect((await critic.call('workflow_advance', { ...verdict, at: written.S.at })).S).toMatchObject({
    code: 'own_work',
  });
  const signing = await critic.call('workflow_advance', verdict);
  expect(signing.S).toMatchObject({ step: 'sign' });
  const view = await team.engine(1).view(S.run);
  const cursor = Object.values(view?.state.cursors ?? {})[0];
  const at = formatHandle(S.run, cursor?.path ?? '', cursor?.visit ?? 0);
  expect((await agent.call('workflow_advance', { at, output: 'to be signed' })).S).toMatchObject({
    waiting: { by: 'human' },
  });
  const person = await connected(url, '!boss@1', { era });
  expect((await person.call('workflow_advance', { at, output: 'ok', verdict: 'approve' })).S).toMatchObject({
    code: 'person_only',
  });
});

it('agents with one token are told apart where their clients say who they are, and recognised again', async () => {
  const team = teamUp();
  await team.pin(1, plain);
  const urls = [await team.serve(), await team.serve()];
  const started = async (connection: HttpConnection, summary: string): Promise<string> =>
    (await connection.call('workflow_start', { workflow: 'plain', summary })).S.run;
  const meant = async (connection: HttpConnection): Promise<string> =>
    (await connection.call('workflow_status')).S.run;
  // The older era: by the id that each connection was given.
  const one = await connected(urls, 'bot@1');
  const two = await connected(urls, 'bot@1');
  const [first, second] = [await started(one, 'first'), await started(two, 'second')];
  expect([await meant(one), await meant(two)]).toEqual([first, second]);
  // In both, by a name that the client sends; also after it was started anew.
  for (const era of eras) {
    const headers = { 'Stepfast-Session': `conversation-${era}` };
    const named = await connected(urls, 'bot@1', { era, headers });
    const run = await started(named, `named ${era}`);
    expect(await meant(await connected(urls, 'bot@1', { era, headers }))).toBe(run);
    // The same name with another token is another session.
    const other = await connected(urls, 'eve@1', { era, headers });
    expect((await other.call('workflow_status')).S).toMatchObject({ code: 'no_run' });
  }
  // The newer era without a name: all who have the token are one.
  const some = await started(await connected(urls, 'fleet@1', { era: '2026' }), 'anonymous');
  expect(await meant(await connected(urls, 'fleet@1', { era: '2026' }))).toBe(some);
  const { sessions } = (await team.engine(1).view(first))?.state ?? {};
  expect(Object.entries(sessions ?? {})).toEqual([
    [expect.stringMatching(/^bot-/), expect.objectContaining({ host: 'test-host' })],
  ]);
});
