/** Stepfast's hooks inside the real Claude Code: what stood in the model's requests, and what the run knows of it. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { compactionText } from '../../../src/messages/index.ts';
import {
  type ClaudeProject,
  type ClaudeRun,
  contextOf,
  forgetsAll,
  keepsAll,
  lastContext,
  lastUser,
  nearlyFull,
  reply,
  summariser,
  toolCall,
  toolResults,
} from '../../../src/testing/index.ts';
import { createStage, settings } from './stage.ts';

const workflow = `name: w
description: Plans and builds
required_reading: ["@docs/auth.md"]
key_reminders: [Run the tests after each component]
variables: { plan_id: auth }
agents:
  reviewer: { description: Looks at it, cannot: [Edit] }
steps:
  - { id: plan, type: action, instructions: INSTRUCTIONS-PLAN }
  - { id: build, type: action, agent: reviewer, instructions: INSTRUCTIONS-BUILD }
`;
const files = { '.stepfast/workflows/w.yaml': workflow, 'docs/auth.md': '# Auth\n' };

const cli = join(import.meta.dirname, '..', '..', '..', 'dist', 'cli.js');
let stage: ClaudeProject;
afterEach(async () => {
  await stage[Symbol.asyncDispose]();
});

it('[P4/1] [002/7] [U10] a typed continue briefs a new session and binds it, the delivery is proven, its files are recorded', async () => {
  stage = await createStage(files);
  const { at, state } = await stage.project.startRun('w');
  const path = (name: string) => join(stage.project.root, name);
  stage.model.on(
    lastUser(/continue/),
    toolCall.status(at),
    reply.tool('Read', { file_path: path('docs/auth.md') }),
    reply.tool('Read', { file_path: path('README.md') }),
    reply.tool('Write', { file_path: path('src/form.ts'), content: '1\n' }),
    reply.text('✅ Workflow restored: w, Phase 1/2'),
  );
  const { sessions, requests } = await stage.run({ prompts: ['continue'] });
  const [first] = requests.requestsOf('main');
  for (const there of [
    'INSTRUCTIONS-PLAN',
    'ACTION REQUIRED',
    'REQUIRED READING\n- @docs/auth.md (not yet read)',
    'KEY REMINDERS\n- Run the tests after each component',
    'plan_id: auth',
    '✅ Workflow restored: w, Phase 1/2',
  ])
    expect(first && contextOf(first)).toContain(there);
  const [session = ''] = sessions;
  const after = await state();
  expect(after.sessions[session]).toMatchObject({ host: 'claude-code', witness: 'hooks' });
  expect(after.briefings[session]?.proven).toMatch(/handle|transcript/);
  expect(Object.keys(after.reading)).toEqual(['{project_root}/docs/auth.md']);
  expect(after.artefacts).toEqual(['src/form.ts']);
  expect(after.sessions[session]?.endedAt).toBeDefined();
});

it('[U10] a question in a new session is answered without the run, whose first call then takes it up', async () => {
  stage = await createStage(files);
  const { run, at, state } = await stage.project.startRun('w');
  stage.model.on(lastUser(/README/), reply.text('Nothing much.'));
  stage.model.on(lastUser(/login form/), toolCall.status(), reply.text('Going on.'));
  const { sessions, requests } = await stage.run({
    prompts: ['What is in the README?', 'Go on with the login form.'],
  });
  const [question, , called] = requests.requestsOf('main');
  const offer = question ? contextOf(question) : '';
  expect(offer).toContain(run);
  for (const imposed of ['ACTION REQUIRED', 'INSTRUCTIONS-PLAN', at]) expect(offer).not.toContain(imposed);
  expect(called && contextOf(called)).toContain('ACTION REQUIRED');
  expect((await state()).sessions[sessions[0] ?? '']).toMatchObject({ witness: 'hooks' });
});

it('[P4/4] [002/6] [pain 2] [pain 3] [pain 9] [pain 10] after a compaction that keeps little the briefing has it all', async () => {
  stage = await createStage(files);
  stage.model.on(
    lastUser(/begin/),
    toolCall.start('w'),
    toolCall.note('SimpleWebAuthn on both sides.'),
    toolCall.note('The button says Passkey.'),
    toolCall.advance('PLANNED-IT in three parts.'),
    reply.text('Noted.'),
  );
  stage.model.always(summariser(), keepsAll([{ kind: 'decision', text: 'SimpleWebAuthn on both sides.' }]));
  stage.model.on(lastUser(/and now/), reply.text('Going on.'));
  const ran = await stage.run({ prompts: ['begin', 'begin nothing else', '/compact', 'and now'] });
  const { state, events } = await stage.project.onlyRun();
  const [summary] = ran.requests.requestsOf('summariser');
  // One line, because the host prints it.
  expect(summary && contextOf(summary)).toContain(compactionText('w', 'build'));
  const after = contextOf(ran.requests.firstRequestAfterCompaction());
  for (const kept of ['SimpleWebAuthn on both sides.', 'The button says Passkey.', '@docs/auth.md'])
    expect(after).toContain(kept);
  // The next action comes before completed work, and unchecked work is marked as such.
  expect(after).toMatch(
    /ACTION REQUIRED[\s\S]*INSTRUCTIONS-BUILD[\s\S]*DONE\n- plan \(unverified; .*PLANNED-IT/,
  );
  const [session = ''] = ran.sessions;
  expect((await state()).sessions[session]?.resets).toBe(1);
  expect((await state()).briefings[session]?.proven).toBe('transcript');
  expect(await events('compaction.recorded')).toMatchObject([
    { session, trigger: 'manual', kept: ['n1'], lost: ['n2'] },
  ]);
});

it('[002/9] [pain 5] automatic compactions in the middle of a tool loop: each goes on with the briefing', async () => {
  stage = await createStage(files);
  const { at, run, events } = await stage.project.startRun('w');
  const round = [
    toolCall.bash('ls', { usage: nearlyFull }),
    toolCall.bash('ls'),
    toolCall.bash('ls'),
    toolCall.bash('ls'),
  ];
  stage.model.on(lastUser(/loop/), toolCall.status(at), ...round, ...round, reply.text('Done.'));
  stage.model.always(summariser(), forgetsAll());
  const ran = await stage.run({ prompts: ['loop'] });
  const summaries = ran.requests.requestsOf('summariser').map((request) => contextOf(request));
  expect(summaries).toHaveLength(2);
  for (const asked of [`run ${run}`, '@docs/auth.md']) expect(summaries[0]).toContain(asked);
  expect(lastContext(ran)).toContain('INSTRUCTIONS-PLAN');
  expect((await events('compaction.recorded')).map(({ trigger }) => trigger)).toEqual(['auto', 'auto']);
});

it('[002/4] a run that the session starts itself is bound at once, survives a compaction, and leaves no marks', async () => {
  stage = await createStage(files);
  stage.model.on(lastUser(/start it/), toolCall.start('w'), reply.text('Started.'));
  stage.model.always(summariser(), forgetsAll());
  stage.model.on(
    lastUser(/and now/),
    toolCall.advance('Planned.'),
    toolCall.advance('Built.'),
    reply.text('Done.'),
  );
  const { requests, sessions } = await stage.run({ prompts: ['start it', '/compact', 'and now'] });
  expect(contextOf(requests.firstRequestAfterCompaction())).toContain('INSTRUCTIONS-PLAN');
  const { state } = await stage.project.onlyRun();
  expect((await state()).sessions).toEqual({ [sessions[0] ?? '']: expect.objectContaining({ resets: 1 }) });
  expect((await state()).status).toBe('complete');
  expect(readdirSync(join(stage.project.root, '.stepfast', 'sessions', 'marks'))).toEqual(['because']);
});

it('[pain 13] a stop is held where the workflow asks: once a turn, three times a visit', async () => {
  stage = await createStage({ '.stepfast/workflows/w.yaml': `${workflow}stop: hold\n` });
  const { at, state } = await stage.project.startRun('w');
  stage.model.on(lastUser(/go on/), toolCall.status(at), reply.text('Finished, I think.'));
  stage.model.always(lastUser(/./), reply.text('It is not.'));
  const { requests, turns } = await stage.run({ prompts: ['go on', 'two', 'three', 'four'] });
  expect(turns).toHaveLength(4);
  // A call, then two requests for each turn whose stop is held, and one for the last.
  expect(requests.requestsOf('main')).toHaveLength(8);
  expect(lastContext({ requests })).toMatch(new RegExp(`Stop hook additional context: .*${at}`));
  expect((await state()).cursors.plan?.stops).toBe(3);
});

it("what the position's agent cannot use is denied, in that position, whatever tool it is", async () => {
  const also = workflow.replace('cannot: [Edit]', 'cannot: [Edit, "mcp__browser__*"]');
  stage = await createStage({ ...files, '.stepfast/workflows/w.yaml': also });
  const { at } = await stage.project.startRun('w');
  const file_path = join(stage.project.root, 'README.md');
  const edit = (from: string, to: string) =>
    reply.tool('Edit', { file_path, old_string: from, new_string: to });
  stage.model.on(
    lastUser(/go on/),
    toolCall.status(at),
    reply.tool('Read', { file_path }),
    edit('A project', 'ALLOWED'),
    toolCall.advance('Planned.', at),
    edit('ALLOWED', 'FORBIDDEN'),
    reply.tool('mcp__browser__workflow_status', {}),
    reply.text('I may not.'),
  );
  // Any server does for a browser.
  const server = { command: process.execPath, args: [cli, 'mcp'], alwaysLoad: true };
  const ran = await stage.run({ prompts: ['go on'], mcp: { stepfast: server, browser: server } });
  const [, , allowed, , denied, browser] = toolResults(ran);
  expect(browser).toMatch(/reviewer.*mcp__browser__workflow_status/);
  expect(allowed).toContain('has been updated');
  expect(denied).toMatch(/reviewer.*Edit/);
});

it('[004/5] [004/6] critical artifacts come with the start, with a phase, and again after a compaction', async () => {
  const artifacts = `critical_artifacts:
  always_load:
    - { id: spec, type: markdown, path: docs/auth.md, description: The spec, required: true }
    - id: guide
      type: markdown
      path: docs/guide.md
      description: How to build
      reload_triggers: ["phase_start:build"]
`;
  stage = await createStage({
    '.stepfast/workflows/w.yaml': workflow + artifacts,
    'docs/auth.md': 'SPEC-TEXT\n',
    'docs/guide.md': 'GUIDE-TEXT\n',
  });
  const { at, events } = await stage.project.startRun('w');
  stage.model.on(
    lastUser(/continue/),
    toolCall.status(at),
    toolCall.advance('Planned.', at),
    reply.tool('mcp__stepfast__workflow_context', {}),
    reply.text('Building.'),
  );
  stage.model.always(summariser(), forgetsAll());
  stage.model.on(lastUser(/and now/), reply.text('Going on.'));
  const ran = await stage.run({ prompts: ['continue', 'continue with it', '/compact', 'and now'] });
  const [first] = ran.requests.requestsOf('main');
  expect(first && contextOf(first)).toContain('SPEC-TEXT');
  const [, advanced, primed] = toolResults({ requests: beforeCompaction(ran) });
  expect(advanced).toContain('GUIDE-TEXT');
  expect(primed).toContain('ACTION REQUIRED');
  expect(contextOf(ran.requests.firstRequestAfterCompaction())).toContain('SPEC-TEXT');
  const [session] = ran.sessions;
  const loaded = await events('artifacts.loaded');
  expect(loaded.every((each) => each.session === session)).toBe(true);
  expect(loaded.at(-1)).toMatchObject({
    trigger: 'session_start',
    artifacts: [{ id: 'spec' }, { id: 'guide' }],
  });
});

const beforeCompaction = ({ requests }: ClaudeRun): ClaudeRun['requests'] => ({
  ...requests,
  requestsOf: (kind) => {
    const [summary] = requests.requestsOf('summariser');
    return requests.requestsOf(kind).filter(({ n }) => n < (summary?.n ?? 0));
  },
});

it('[002/4] [002/6] [002/8] work without Stepfast is adopted before a compaction, and told after it', async () => {
  const plan = '# Passkeys\n\n**Status**: 🔄 In Progress\n\nPhase: 2/3\n\n## Phase 2\n\n- [ ] THE-FORM\n';
  stage = await createStage({ 'CLAUDE/Plan/001-passkeys/PLAN.md': plan });
  stage.model.on(lastUser(/hello/), reply.text('Hello.'));
  stage.model.always(summariser(), forgetsAll());
  stage.model.on(lastUser(/and now/), reply.text('Going on.'));
  const ran = await stage.run({ prompts: ['hello', 'hello again', '/compact', 'and now'] });
  const [first] = ran.requests.requestsOf('main');
  expect(first && contextOf(first)).not.toContain('THE-FORM');
  await stage.project.onlyRun();
  const after = contextOf(ran.requests.firstRequestAfterCompaction());
  for (const there of ['ACTION REQUIRED', 'CLAUDE/Plan/001-passkeys/PLAN.md']) expect(after).toContain(there);
});

it('[002/9] without a run the requests are byte for byte those of a session without hooks', async () => {
  stage = await createStage(files);
  const { model } = stage;
  const say = toolCall.bash('echo tool-$((40 + 2))');
  model.always(summariser(), forgetsAll());
  const bodies = async (hooks: Record<string, unknown>): Promise<string[]> => {
    model.on(lastUser(/hello/), say, reply.text('Hello.'));
    model.on(lastUser(/and you/), toolCall.agent('SUB-TASK: look.'), reply.text('Fine.'));
    model.always(lastUser(/on we go/), reply.text('On.'));
    const { requests, sessions } = await stage.run({
      prompts: ['hello', 'and you?', '/compact', 'on we go', '/clear', 'on we go'],
      settings: hooks,
    });
    return requests.all().map(({ body }) => plain(JSON.stringify(body), sessions));
  };
  const [without, withHooks] = [await bodies({}), await bodies(settings())];
  expect(withHooks).toEqual(without);
  expect(withHooks.length).toBeGreaterThan(6);
  expect(existsSync(join(stage.project.root, '.stepfast', 'sessions'))).toBe(false);
  expect(existsSync(join(stage.project.root, '.stepfast', 'runs'))).toBe(false);
});

/** What differs between any two sessions, and the host's own line that a compaction hook ran. */
const plain = (body: string, sessions: readonly string[]): string =>
  sessions
    .reduce((text, session) => text.replaceAll(session, 'SESSION'), body)
    .replaceAll(/toolu_\w+|\ba[0-9a-f]{16}\b/g, 'ID')
    .replaceAll(/(?:\\n)?(?:Pre|Post)Compact \[[^\]]*\] completed successfully/g, '')
    .replaceAll(/(?:duration_ms|tool_uses|subagent_tokens|total_tokens)[^\\<]*/g, 'USAGE');
