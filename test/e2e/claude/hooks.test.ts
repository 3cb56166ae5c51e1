/** Stepfast's hooks inside the real Claude Code: what stood in the model's requests, and what the run knows of it. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { claudeCode } from '../../../src/hosts/claude-code/index.ts';
import { compactionText } from '../../../src/messages/index.ts';
import { currentToolName } from '../../../src/runtime/index.ts';
import {
  type ClaudeProject,
  type ClaudeRun,
  contextOf,
  forgetsAll,
  keepsAll,
  lastUser,
  reply,
  summariser,
  toolCall,
  toolResults,
} from '../../../src/testing/index.ts';
import { cliProgram } from '../../../src/testing/programs.ts';
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

let stage: ClaudeProject;
afterEach(async () => {
  await stage[Symbol.asyncDispose]();
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

it("A14: what the position's agent cannot use is denied, and every tool has a known name", async () => {
  const limited = `name: w
description: Looks, then writes
agents:
  looker: { description: Looks at it, tools: [Read] }
  writer: { description: Writes it, cannot: [Bash, "mcp__browser__*"] }
steps:
  - { id: look, type: action, agent: looker, instructions: Look at it. }
  - { id: write, type: action, agent: writer, instructions: Write it. }
`;
  stage = await createStage({ '.stepfast/workflows/w.yaml': limited });
  const { at } = await stage.project.startRun('w');
  const file_path = join(stage.project.root, 'README.md');
  const edit = (to: string) => reply.tool('Edit', { file_path, old_string: 'A project', new_string: to });
  stage.model.on(
    lastUser(/go on/),
    toolCall.status(at),
    reply.tool('Read', { file_path }),
    toolCall.bash('echo FORBIDDEN > README.md'),
    edit('FORBIDDEN'),
    toolCall.advance('Looked.', at),
    toolCall.bash('echo FORBIDDEN > README.md'),
    edit('ALLOWED'),
    reply.tool('mcp__browser__workflow_status', {}),
    reply.text('Done.'),
  );
  // Any server does for a browser.
  const server = { command: process.execPath, args: [cliProgram, 'mcp'], alwaysLoad: true };
  const ran = await stage.run({ prompts: ['go on'], mcp: { stepfast: server, browser: server } });
  const [, , bash, edited, , later, written, browser] = toolResults(ran);
  for (const refused of [bash, edited]) expect(refused).toMatch(/looker.*Read/);
  expect(later).toMatch(/writer.*Bash/);
  expect(written).toContain('has been updated');
  expect(browser).toMatch(/writer.*mcp__browser__workflow_status/);
  expect(readFileSync(file_path, 'utf8')).toBe('ALLOWED\n');
  const offered = ran.events.flatMap(({ tools = [] }) => tools).filter((name) => !name.startsWith('mcp__'));
  const { tools } = claudeCode;
  expect(offered).toContain('Bash');
  expect(offered.filter((name) => !tools || currentToolName(tools, name) === undefined)).toEqual([]);
});

it('[P4/1] [002/7] [004/5] [004/6] critical artifacts come with the briefing, with a phase, and after a compaction', async () => {
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
  const { at, events, state } = await stage.project.startRun('w');
  stage.model.on(
    lastUser(/continue/),
    toolCall.status(at),
    reply.tool('Read', { file_path: join(stage.project.root, 'README.md') }),
    toolCall.advance('Planned.', at),
    reply.tool('mcp__stepfast__workflow_context', {}),
    reply.text('Building.'),
  );
  stage.model.always(summariser(), forgetsAll());
  stage.model.on(lastUser(/and now/), reply.text('Going on.'));
  const ran = await stage.run({ prompts: ['continue', 'continue with it', '/compact', 'and now'] });
  const [first] = ran.requests.requestsOf('main');
  for (const there of [
    'SPEC-TEXT',
    'INSTRUCTIONS-PLAN',
    'ACTION REQUIRED',
    'REQUIRED READING\n- @docs/auth.md',
    'KEY REMINDERS\n- Run the tests after each component',
    'plan_id: auth',
    '✅ Workflow restored: w, Phase 1/2',
  ])
    expect(first && contextOf(first)).toContain(there);
  const [, , advanced, primed] = toolResults({ requests: beforeCompaction(ran) });
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
  const after = await state();
  expect(Object.keys(after.reading)).not.toContain('{project_root}/README.md');
  expect(after.sessions[session ?? '']?.endedAt).toBeDefined();
});

const beforeCompaction = ({ requests }: ClaudeRun): ClaudeRun['requests'] => ({
  ...requests,
  requestsOf: (kind) => {
    const [summary] = requests.requestsOf('summariser');
    return requests.requestsOf(kind).filter(({ n }) => n < (summary?.n ?? 0));
  },
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
