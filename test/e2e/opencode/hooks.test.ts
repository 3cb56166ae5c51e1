/** Stepfast's plugin inside the real OpenCode: what stood in the model's requests, and what the run knows of it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { contextOf, lastUser, mainTurn, reply, summariser } from '../../../src/testing/index.ts';
import { createOpenCodeLab, type OpenCodeLab } from '../../kit/opencode.ts';

const workflow = `name: w
description: Plans and builds
required_reading: ["@docs/auth.md"]
agents:
  reviewer: { description: Looks at it, cannot: [Edit] }
steps:
  - { id: plan, type: action, instructions: INSTRUCTIONS-PLAN }
  - { id: build, type: action, agent: reviewer, instructions: INSTRUCTIONS-BUILD }
`;
const files = { '.stepfast/workflows/w.yaml': workflow, 'docs/auth.md': '# Auth\n' };

let lab: OpenCodeLab;
afterEach(async () => await lab[Symbol.asyncDispose]());

const call = (name: string, input: Record<string, unknown> = {}) => reply.tool(`stepfast_${name}`, input);
const main = () => lab.model.requestsOf('main');
const seen = (index: number): string => contextOf(main().at(index) ?? expect.unreachable());
const yes = () => reply.text('Yes.');

describe('opencode run', () => {
  it('[P4/1] [002/7] a typed continue briefs a new session and binds it, the delivery is proven, its files are recorded', async () => {
    lab = await createOpenCodeLab(files);
    const { at, state } = await lab.project.startRun('w');
    const path = (name: string) => join(lab.project.root, name);
    lab.model.on(
      lastUser(/^continue/),
      call('workflow_status', { at }),
      reply.tool('read', { filePath: path('docs/auth.md') }),
      reply.tool('write', { filePath: path('src/form.ts'), content: '1\n' }),
      call('workflow_advance', { at, output: 'Planned.' }),
      reply.tool('edit', { filePath: path('src/form.ts'), oldString: '1', newString: '2' }),
      reply.text('Done.'),
    );
    expect(await lab.run('run', 'continue')).toMatchObject({ status: 0 });
    expect(seen(0)).toContain('INSTRUCTIONS-PLAN');
    const after = await state();
    const [session = ''] = Object.keys(after.sessions).filter((id) => id.startsWith('ses_'));
    expect(after.sessions[session]).toMatchObject({
      host: 'opencode',
      witness: 'hooks',
      completed: ['plan'],
    });
    expect(after.briefings[session]?.proven).toBe('transcript');
    expect(Object.keys(after.reading)).toEqual(['{project_root}/docs/auth.md']);
    expect(after.artefacts).toEqual(['src/form.ts']);
    // Denied by the agent of the step, in Claude Code's name for the tool.
    expect(seen(-1)).toContain('reviewer');
    expect(Object.keys(after.sessions).filter((id) => id.startsWith('mcp-'))).toEqual([]);
  });

  it('[P4/6] a session that is continued in another process is briefed again', async () => {
    lab = await createOpenCodeLab(files);
    lab.model.on(lastUser(/start it/), call('workflow_start', { workflow: 'w' }), reply.text('Started.'));
    lab.model.always(mainTurn(), yes);
    await lab.run('run', 'start it');
    expect(seen(0)).not.toContain('INSTRUCTIONS-PLAN');
    await lab.run('run', '--continue', 'and now');
    expect(seen(-1)).toContain('ACTION REQUIRED');
    const { state } = await lab.project.onlyRun();
    expect(Object.values((await state()).sessions).filter(({ host }) => host === 'opencode')).toHaveLength(1);
  });

  it('[002/9] without a run nothing is said to the model, and no file is created in the project', async () => {
    lab = await createOpenCodeLab();
    lab.model.always(mainTurn(), yes);
    expect(await lab.run('run', 'hello')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('Yes.'),
    });
    expect(seen(0)).not.toContain('run w-');
    expect(existsSync(join(lab.project.root, '.stepfast'))).toBe(false);
  });
});

describe('compaction', () => {
  it('[P4/4] [002/6] after a manual one the next request has the briefing, and the summarizer was told what to keep', async () => {
    lab = await createOpenCodeLab(files);
    lab.model.on(lastUser(/start it/), call('workflow_start', { workflow: 'w' }), reply.text('Started.'));
    lab.model.always(summariser(), () => reply.text('SUMMARY'));
    lab.model.always(mainTurn(), yes);
    const server = await lab.serve();
    const session = await server.newSession();
    await server.prompt(session, 'start it');
    await server.compact(session);
    await server.prompt(session, 'and now');
    expect(seen(-1)).toContain('INSTRUCTIONS-PLAN');
    expect(seen(-1).match(/ACTION REQUIRED/g)).toHaveLength(1);
    await server.prompt(session, 'more');
    expect(seen(-1).match(/ACTION REQUIRED/g)).toHaveLength(1);
    const { state, events, run } = await lab.project.onlyRun();
    const [summary] = lab.model.requestsOf('summariser');
    expect(summary && contextOf(summary)).toContain(`'w'`);
    expect((await state()).sessions[session]).toMatchObject({ resets: 1 });
    expect((await state()).briefings[session]?.proven).toBe('transcript');
    expect(await events('compaction.recorded')).toMatchObject([{ session, trigger: 'manual' }]);
    expect(run).not.toBe('');
  });

  it('[002/9] [pain 5] an automatic one in the middle of a tool loop goes on with the briefing', async () => {
    lab = await createOpenCodeLab(files, { contextLimit: 60_000 });
    const full = { usage: { input_tokens: 59_000 } };
    lab.model.on(
      lastUser(/start it/),
      call('workflow_start', { workflow: 'w' }),
      reply.tool('bash', { command: 'ls', description: 'List' }, full),
    );
    lab.model.always(summariser(), () => reply.text('SUMMARY'));
    lab.model.always(mainTurn(), yes);
    const server = await lab.serve();
    const session = await server.newSession();
    await server.prompt(session, 'start it');
    expect(lab.model.requestsOf('summariser')).toHaveLength(1);
    expect(seen(-1)).toContain('SUMMARY');
    expect(seen(-1)).toContain('INSTRUCTIONS-PLAN');
    const { state, events } = await lab.project.onlyRun();
    expect((await state()).sessions[session]).toMatchObject({ resets: 1 });
    await server.prompt(session, 'more');
    expect(seen(-1).match(/ACTION REQUIRED/g)).toHaveLength(1);
    expect((await state()).briefings[session]?.proven).toBe('transcript');
    expect(await events('compaction.recorded')).toMatchObject([{ session, trigger: 'auto' }]);
  });
});
