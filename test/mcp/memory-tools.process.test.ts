import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nextForTools } from '../../src/messages/index.ts';
import { connect, createProject, eras } from './kit.ts';
import { stdioServer } from './stdio-server.ts';

describe.each(eras)('over stdio in the %s era', (era) => {
  const mcp = stdioServer(era);

  it('[P5/6] workflow_context tells all sections or one as text, and changes nothing', async () => {
    const { run, at } = await mcp.start('plain', 'login');
    await mcp.call('workflow_note', { kind: 'decision', text: 'use sessions', at });
    const before = await mcp.project.runtime().engine.view(run);
    const all = await mcp.call('workflow_context', {});
    expect(all.S).toEqual({});
    expect(all.text).toMatch(/^RUN\nBriefing b-\w{8} of run plain-/);
    expect(all.text).toContain(at);
    expect(all.text).toContain('Write the plan of login.');
    expect(all.text).toContain('decision n1: use sessions');
    expect(all.text).toContain('REQUIRED READING\n- @docs/conventions.md (missing)');
    expect(all.text).toContain('KEY REMINDERS\n- Run the tests');
    expect((await mcp.project.runtime().engine.view(run))?.version).toEqual(before?.version);
    const one = await mcp.call('workflow_context', { at, section: 'notes' });
    expect(one.text).not.toContain('INSTRUCTIONS');
    await mcp.call('workflow_status', { at });
    await mcp.call('workflow_advance', { output: 'the plan', at });
    expect((await mcp.call('workflow_context', { section: 'done' })).text).toContain(
      'DONE\n- plan (unverified; just now): the plan',
    );
    expect((await mcp.call('workflow_context', { section: 'outputs' })).text).toBe('OUTPUT plan\nthe plan');
    const odd = await mcp.call('workflow_context', { section: 'everything' });
    expect(`${odd.S.message} ${odd.S.next}`).toMatch(/\beverything\b/);
    expect(`${odd.S.message} ${odd.S.next}`).toMatch(/\bstatus, ?/);
    expect(odd.S.code).toBe('bad_argument');
    await mcp.end(run);
  });

  it('A5: a session without hooks gets past a read gate by doing what the red gate says', async () => {
    mcp.project.write({ 'docs/rules.md': 'The rules\n' });
    const { run, at } = await mcp.start('reading');
    const red = await mcp.call('workflow_advance', { output: 'done', at });
    const [gate] = red.S.failed_gates as { gate: string; tail: string }[];
    const said = /(workflow_\w+) with kind (\w+) and text (\S+)/.exec(gate?.tail ?? '');
    const [, tool = '', kind, text] = said ?? [];
    expect(text).toBe('docs/rules.md');
    expect((await mcp.call(tool, { kind, text })).isError).toBe(false);
    expect((await mcp.call('workflow_advance', { output: 'done', at })).S.status).toBe('complete');
    await mcp.end(run);
  });

  it('[P5/7] workflow_note keeps words under an id, and a question makes the run wait', async () => {
    const { run, at } = await mcp.start('looped');
    const first = await mcp.call('workflow_note', { kind: 'decision', text: 'A', key: 'x' });
    expect(first.S).toEqual({ ok: true, id: 'n1' });
    const replaced = await mcp.call('workflow_note', { kind: 'decision', text: 'B', key: 'x', at });
    expect(replaced.S).toEqual({ ok: true, id: 'n2' });
    expect((await mcp.call('workflow_note', { kind: 'variable', text: '1', key: 'k' })).S.ok).toBe(true);
    expect((await mcp.call('workflow_note', { kind: 'variable', text: '1' })).S).toMatchObject({
      code: 'bad_note',
    });
    expect((await mcp.call('workflow_note', { kind: 'idea', text: '1' })).S).toMatchObject({
      code: 'bad_argument',
    });
    const asked = await mcp.call('workflow_note', { kind: 'question', text: 'Which one?', at });
    expect(asked.S).toEqual({
      ok: true,
      id: 'q1',
      next: nextForTools({ do: 'wait', for: 'answer', at }),
    });
    const status = await mcp.call('workflow_status', { at });
    expect(status.S).toMatchObject({ status: 'waiting', waiting: { for: 'question', what: 'Which one?' } });
    await mcp.project
      .runtime()
      .call({ type: 'answer', text: 'The first' }, { actor: { kind: 'person' } }, { run });
    const answered = await mcp.call('workflow_status', { at });
    expect(answered.S.instructions).toContain('Question: Which one?\nAnswer: The first');
    const view = await mcp.project.runtime().engine.view(run);
    expect(view?.state.notes.map(({ text }) => text)).toContain('B');
    expect(view?.state.notes.map(({ text }) => text)).not.toContain('A');
    await mcp.end(run);
  });

  it('[P5/8] [003/8] update_todo_list replaces the whole list in a file, which is loaded on demand', async () => {
    const { run, at } = await mcp.start('looped');
    const file = join(mcp.project.root, '.stepfast', 'runs', run, 'TODO.md');
    expect((await mcp.call('update_todo_list', { content: '- [ ] one\n- [ ] two\n' })).S).toEqual({
      ok: true,
    });
    expect(readFileSync(file, 'utf8')).toBe('- [ ] one\n- [ ] two\n');
    const long = `- [x] one\n${'- [ ] more\n'.repeat(300)}`;
    await mcp.call('update_todo_list', { content: long, at });
    expect(readFileSync(file, 'utf8')).toBe(long);
    expect((await mcp.call('workflow_context', {})).text).not.toContain('[x] one');
    expect((await mcp.call('workflow_context', { section: 'todo' })).text).toContain('- [x] one');
    expect((await mcp.call('update_todo_list', { content: 'x', at: 'zzzzzzzz:a#1' })).S.code).toBe('no_run');
    await mcp.end(run);
  });
});

it.each([20, 32])('[M16] a specification of %i KB is asked for, given whole, and recorded', async (size) => {
  const text = 'The passkey button stands above the form, and is named "Passkey". '
    .repeat(1000)
    .slice(0, size * 1024);
  const workflow = `name: spec
description: Has a specification
critical_artifacts:
  always_load: [{ id: specification, type: markdown, path: SPEC.md, required: true }]
steps: [{ id: do, type: action, instructions: Do it. }]
`;
  using project = createProject({ spec: workflow });
  project.write({ 'SPEC.md': text });
  const server = await connect(project);
  try {
    const { S } = await server.call('workflow_start', { workflow: 'spec' });
    const briefing = await server.call('workflow_context');
    expect(briefing.text).toMatch(/^ACTION REQUIRED\n(?:.*\n)*?.*\bspecification\b.*section artifacts/m);
    const loads = async () => {
      const view = await project.runtime().engine.view(S.run);
      return Object.values(view?.state.loads?.bySession ?? {}).flatMap(
        (each) => each.specification?.hash ?? [],
      );
    };
    expect(await loads()).toEqual([]);
    const given = await server.call('workflow_context', { section: 'artifacts' });
    expect(given.text).toContain(text.trimEnd());
    expect(await loads()).toHaveLength(1);
    const again = await server.call('workflow_context');
    expect(again.text).not.toMatch(/^Load first/m);
  } finally {
    await server.close();
  }
});
