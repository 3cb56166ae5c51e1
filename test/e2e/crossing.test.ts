/** One run that goes from one agent program to another: each is told what it must know, and the history has all. */
import { afterEach, expect, it } from 'vitest';
import { contextOf, lastUser, reply, type ScriptedModel } from '../../src/testing/index.ts';
import { claudeHost } from '../kit/claude-host.ts';
import { codexHost } from '../kit/codex.ts';
import type { HostSession, HostStage, SessionHost } from '../kit/host-stage.ts';
import { openCodeHost } from '../kit/opencode.ts';
import { stepfastIn } from '../kit/stepfast-in.ts';

const workflow = `name: w
description: Three parts
steps:
  - { id: plan, type: action, instructions: INSTRUCTIONS-PLAN }
  - { id: build, type: action, instructions: INSTRUCTIONS-BUILD, gate: [{ run: test -f built.txt }] }
  - { id: ship, type: action, instructions: INSTRUCTIONS-SHIP }
`;

const stages: HostStage[] = [];
afterEach(async () => {
  for (const { model, project } of stages.splice(0)) {
    await model[Symbol.asyncDispose]();
    project[Symbol.dispose]();
  }
});

/** The program and the model of a host, with the project and the user of another. */
async function within(host: SessionHost, first: HostStage | undefined): Promise<HostStage> {
  const own = await host.prepare({ ...host.settings, '.stepfast/workflows/w.yaml': workflow });
  stages.push(own);
  if (!first) return own;
  const state = first.env.XDG_STATE_HOME ?? '';
  return { ...own, project: first.project, env: { ...own.env, XDG_STATE_HOME: state } };
}

/** Takes the run up, does this in it, and ends. */
async function takeUp(
  host: SessionHost,
  stage: HostStage,
  work: (model: ScriptedModel) => void,
): Promise<{ id: string; told: string }> {
  const installed = await stepfastIn(stage, 'init', '--yes', '--host', host.name);
  expect(installed, installed.stderr).toMatchObject({ code: 0 });
  work(stage.model);
  const session: HostSession = await host.open(stage);
  try {
    await session.send('continue');
  } finally {
    await session.end();
  }
  expect(stage.model.left()).toBe(0);
  const [first] = stage.model.requestsOf('main');
  return { id: session.id, told: contextOf(first ?? expect.unreachable()) };
}

it('[pain 7] a run that is started in Claude Code is continued in Codex and finished in OpenCode', async () => {
  const claude = await within(claudeHost, undefined);
  claude.project.trust('w');
  const { run, state, events } = await claude.project.startRun('w');
  const at = (step: string): string => `${run.slice(run.lastIndexOf('-') + 1)}:${step}#1`;

  const one = await takeUp(claudeHost, claude, (model) =>
    model.on(
      lastUser(/continue/),
      claudeHost.own('workflow_note', { kind: 'decision', text: 'DECISION-OF-CLAUDE', at: at('plan') }),
      claudeHost.own('workflow_advance', { at: at('plan'), output: 'Planned in Claude Code.' }),
      reply.text('Planned.'),
    ),
  );
  expect(one.told).toContain('INSTRUCTIONS-PLAN');
  expect((await state()).step).toBe('build');

  const two = await takeUp(codexHost, await within(codexHost, claude), (model) =>
    model.on(
      lastUser(/continue/),
      codexHost.shell('touch built.txt'),
      codexHost.own('workflow_note', { kind: 'decision', text: 'DECISION-OF-CODEX', at: at('build') }),
      codexHost.own('workflow_advance', { at: at('build'), output: 'Built in Codex.' }),
      reply.text('Built.'),
    ),
  );
  for (const known of ['INSTRUCTIONS-BUILD', 'DECISION-OF-CLAUDE']) expect(two.told).toContain(known);
  expect((await state()).step).toBe('ship');

  const three = await takeUp(openCodeHost, await within(openCodeHost, claude), (model) =>
    model.on(
      lastUser(/continue/),
      openCodeHost.own('workflow_advance', { at: at('ship'), output: 'Shipped in OpenCode.' }),
      reply.text('Shipped.'),
    ),
  );
  for (const known of ['INSTRUCTIONS-SHIP', 'DECISION-OF-CLAUDE', 'DECISION-OF-CODEX'])
    expect(three.told).toContain(known);

  expect(await state()).toMatchObject({
    status: 'complete',
    outputs: {
      plan: { text: 'Planned in Claude Code.' },
      build: { text: 'Built in Codex.', receipts: [{ pass: true }] },
      ship: { text: 'Shipped in OpenCode.' },
    },
  });
  // The first is of the command that started the run.
  const [, ...started] = await events('session.started');
  expect(started.map(({ host, session }) => [host, session])).toEqual([
    ['claude-code', one.id],
    ['codex', two.id],
    ['opencode', three.id],
  ]);
}, 600_000);
