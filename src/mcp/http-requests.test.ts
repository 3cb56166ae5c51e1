import { expect, it } from 'vitest';
import type { Era } from '../../test/kit/server/mcp-http.ts';
import { connected, teamUp } from '../../test/kit/server/mcp-team.ts';
import { plain, writers } from '../../test/mcp/workflows.ts';

const eras: readonly Era[] = ['2025', '2026'];

it.each(eras)('parallel requests of one client are answered each (%s era)', async (era) => {
  const team = teamUp();
  await team.pin(1, plain);
  const { call } = await connected([await team.serve(), await team.serve()], 'ann@1', { era });
  const { S } = await call('workflow_start', { workflow: 'plain', summary: 'many' });
  const notes = Array.from({ length: 24 }, (_, index) =>
    call('workflow_note', { kind: 'decision', text: `note ${index}`, at: S.at }),
  );
  for (const { isError } of await Promise.all(notes)) expect(isError).toBe(false);
  const kept = (await team.engine(1).view(S.run))?.state.notes.map(({ text }) => text) ?? [];
  expect(new Set(kept).size).toBe(24);
  expect(team.errors).toEqual([]);
});

it('what is no call is refused within limits', async () => {
  const team = teamUp();
  const url = await team.serve({ maxBytes: 64 * 1024 });
  const ask = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const post = (body: string, headers: Record<string, string> = {}) =>
    fetch(url, {
      method: 'POST',
      headers: {
        Authorization: 'Bearer ann@1',
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        ...headers,
      },
      body,
    });
  expect((await post(JSON.stringify(ask))).status).toBe(200);
  for (const method of ['GET', 'DELETE', 'PUT']) {
    const response = await fetch(url, { method, headers: { Authorization: 'Bearer ann@1' } });
    expect([method, response.status, response.headers.get('allow')]).toEqual([method, 405, 'POST']);
  }
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', ''])
    expect((await post(JSON.stringify(ask), { 'Content-Type': type })).status).toBe(415);
  expect((await post(JSON.stringify(ask), { Accept: 'text/html' })).status).toBe(406);
  const bad: [body: string, status: number][] = [
    ['', 400],
    ['{', 400],
    ['7', 400],
    ['{"jsonrpc":"2.0"}', 400],
    [`${'['.repeat(10_000)}${']'.repeat(10_000)}`, 400],
    [
      `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":${'{"a":'.repeat(100)}1${'}'.repeat(100)}}`,
      400,
    ],
    [JSON.stringify({ ...ask, filler: 'x'.repeat(70_000) }), 413],
    [JSON.stringify(Array.from({ length: 11 }, (_, id) => ({ ...ask, id }))), 400],
  ];
  for (const [body, status] of bad) {
    const response = await post(body);
    expect([body.slice(0, 30), response.status]).toEqual([body.slice(0, 30), status]);
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', error: { code: expect.any(Number) } });
  }
  // Without a length that tells it beforehand.
  const endless = new ReadableStream({ pull: (controller) => controller.enqueue(Buffer.alloc(16_384, 32)) });
  const streamed = await fetch(url, {
    method: 'POST',
    headers: { Authorization: 'Bearer ann@1', 'Content-Type': 'application/json' },
    body: endless,
    duplex: 'half',
  }).catch(() => undefined);
  expect(streamed?.status ?? 413).toBe(413);
  expect((await post(JSON.stringify(ask))).status).toBe(200);
});

it('a batch of the oldest era is answered whole', async () => {
  const team = teamUp();
  const response = await fetch(await team.serve(), {
    method: 'POST',
    headers: {
      Authorization: 'Bearer ann@1',
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify([1, 2].map((id) => ({ jsonrpc: '2.0', id, method: 'tools/list' }))),
  });
  const text = await response.text();
  const ids = [...text.matchAll(/^data: (.+)$/gm)].map(([, data = '']) => JSON.parse(data).id);
  expect(ids.sort()).toEqual([1, 2]);
});

it.each(eras)(
  'files are named by path, and the server does not ask for what needs a checkout (%s era)',
  async (era) => {
    const team = teamUp();
    await team.pin(
      1,
      `
name: reading
description: Files everywhere
required_reading: ['@docs/conventions.md']
critical_artifacts:
  always_load:
    - { id: plan, type: markdown, path: '{project_root}/docs/plan.md', required: true }
    - { id: repository, type: git_info }
steps:
  - { id: plan, type: action, instructions: 'Write {project_root}/docs/plan.md.' }
`,
    );
    const { call } = await connected(await team.serve(), 'ann@1', { era });
    const { S } = await call('workflow_start', { workflow: 'reading' });
    expect(S.instructions).toBe('Write {project_root}/docs/plan.md.');
    expect(S.artifacts).toContain("'docs/plan.md' of 'plan' is not readable here");
    expect(S.artifacts).toContain('ask git in your checkout');
    const briefing = (await call('workflow_context')).text;
    expect(briefing).toContain('@docs/conventions.md (not yet read)');
    expect(briefing).toContain('in your own checkout');
    const note = await call('workflow_note', { kind: 'reading', text: '@docs/conventions.md' });
    expect(note.S).toMatchObject({
      ok: true,
      warning: expect.stringContaining('stored without checking the file'),
    });
    expect((await call('workflow_context')).text).toContain('@docs/conventions.md (read)');
    expect((await team.engine(1).view(S.run))?.state.reading).toEqual({});
    const refused = await call('workflow_advance', { at: S.at, output: 'planned' });
    expect(refused.S).toMatchObject({
      code: 'missing_artifact',
      message: expect.stringContaining('report from a checkout that is logged in'),
    });
  },
);

it('several agents who write are told to keep apart', async () => {
  const team = teamUp();
  await team.pin(1, writers);
  const { call } = await connected(await team.serve(), 'ann@1');
  const { S } = await call('workflow_start', { workflow: 'writers' });
  const tasks = [{ id: 'one', title: 'One' }];
  await call('workflow_set_tasks', { loop_id: 'write', tasks });
  const claimed = await call('workflow_claim', { run_id: S.run });
  expect(claimed.S).toMatchObject({
    task: { id: 'one' },
    warning: expect.stringContaining('your own checkout and branch'),
  });
});

it.each(eras)('workflows are the bundled ones and what the project has used (%s era)', async (era) => {
  const team = teamUp();
  await team.pin(1, plain);
  const { client, call } = await connected(await team.serve(), 'ann@1', { era });
  const [listed] = (await client.readResource({ uri: 'stepfast://workflows' })).contents;
  const { workflows } = JSON.parse(listed && 'text' in listed ? listed.text : '{}');
  const names = workflows.map(({ name }: { name: string }) => name);
  expect(names).toEqual(expect.arrayContaining(['go', 'feature', 'plain']));
  expect(names).not.toContain('looped');
  const { messages } = await client.getPrompt({ name: 'start', arguments: {} });
  expect(JSON.stringify(messages)).toContain('plain');
  expect((await call('workflow_start', { inputs: { task: 'fix it' } })).S.run).toMatch(/^go-/);
  for (const workflow of ['/etc/passwd', '../x.yaml', 'plian', '__proto__']) {
    const refused = await call('workflow_start', { workflow });
    expect(refused.S).toMatchObject({ code: 'no_workflow' });
  }
});

it('what goes wrong inside is said to the operator, not to the caller', async () => {
  const team = teamUp();
  const url = await team.serve({
    runtimeFor: () => {
      throw new Error('password authentication failed for user "stepfast"');
    },
  });
  const { client, call } = await connected(url, 'ann@1');
  const refused = await call('workflow_status');
  expect(refused.S).toMatchObject({ code: 'internal' });
  expect(refused.text).not.toContain('password');
  await expect(client.listResources()).rejects.toMatchObject({
    code: -32603,
    message: expect.not.stringContaining('password'),
  });
  expect(team.errors.map(String)).toEqual(Array(2).fill(expect.stringContaining('password')));
});
