/** The test kit itself, with the real Claude Code. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { canIsolate } from '../../../src/testing/claude/network.ts';
import {
  type ClaudeRun,
  contextOf,
  createScriptedModel,
  forgetsAll,
  keepsAll,
  lastUser,
  nearlyFull,
  type RunOptions,
  reply,
  type ScriptedModel,
  small,
  subagent,
  summariser,
  toolCall,
} from '../../../src/testing/index.ts';
import { createClaudeProject, runClaude, startClaude } from '../../kit/claude.ts';
import { createHookProbe } from '../../kit/hook-probe.ts';
import { plain } from '../../mcp/workflows.ts';

let directory: string;
let cwd: string;
let home: string;
let model: ScriptedModel;

beforeEach(async () => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'stepfast-kit-')));
  cwd = join(directory, 'project');
  home = join(directory, 'home');
  for (const each of [cwd, home]) mkdirSync(each);
  model = await createScriptedModel();
});

afterEach(async () => {
  await model[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
});

async function run(options: Omit<RunOptions, 'cwd' | 'home' | 'model'>): Promise<ClaudeRun> {
  return await runClaude({ cwd, home, model, ...options });
}

function inLastRequest(marker: string): boolean {
  const last = model.all().at(-1);
  return last !== undefined && contextOf(last).includes(marker);
}

it('tools of the script and hooks run for real, nothing of this machine is around, and what no rule answers is told', async () => {
  const probe = createHookProbe(join(directory, 'hooks'), { 'SessionStart:startup': 'MARKER-START' });
  const around = "env | sed 's/^/variable:/'; tail -n +3 /proc/net/dev | sed 's/:.*//; s/^ */interface:/'";
  model.on(
    lastUser(/fix/),
    reply.tool('Bash', { command: 'printf %s-%s made here | tee made.txt', description: 'Make it' }),
    reply.tool('Bash', { command: around, description: 'Look' }),
    reply.text('It is fixed.'),
  );
  model.on(lastUser(/never asked/), reply.text('x'));
  process.env.STEPFAST_KIT_SECRET = 'of this machine';
  const prompts = ['fix it', 'something else'];
  const { turns, requests, transcript, exitCode, network } = await run({
    prompts,
    settings: probe.settings,
  }).finally(() => {
    delete process.env.STEPFAST_KIT_SECRET;
  });
  expect(turns).toMatchObject([
    { result: 'It is fixed.', isError: false },
    { result: 'Nothing in the script answers this.' },
  ]);
  expect(readFileSync(join(cwd, 'made.txt'), 'utf8')).toBe('made-here');
  expect(requests.containing('MARKER-START')[0]?.n).toBe(1);
  expect(requests.containing('made-here')[0]?.n).toBe(2);
  expect(requests.requestsOf('main')).toHaveLength(4);
  expect(readFileSync(transcript ?? '', 'utf8')).toContain('It is fixed.');
  expect(model.unmatched().map((request) => request.lastUser)).toEqual(['something else']);
  expect({ exitCode, left: model.left(), strays: model.strays() }).toEqual({
    exitCode: 0,
    left: 1,
    strays: [],
  });
  expect(probe.order()).toEqual([
    'SessionStart:startup',
    'UserPromptSubmit',
    ...['PreToolUse:Bash', 'PostToolUse:Bash', 'PreToolUse:Bash', 'PostToolUse:Bash', 'Stop'],
    ...['UserPromptSubmit', 'Stop'],
    'SessionEnd:other',
  ]);
  expect(network).toBe((await canIsolate()) ? 'loopback' : 'open');
  const text = contextOf(requests.containing('interface:lo')[0] ?? expect.unreachable());
  expect(text).toContain(`variable:HOME=${home}\n`);
  expect(text).not.toContain('STEPFAST_KIT_SECRET');
  expect(network === 'open' || new Set(text.match(/interface:\w+$/gm)).size === 1).toBe(true);
});

it('a manual compaction: PreCompact speaks to the summariser, SessionStart to the next request', async () => {
  const probe = createHookProbe(join(directory, 'hooks'), {
    PreCompact: 'MARKER-PRE',
    'SessionStart:compact': 'MARKER-AFTER',
  });
  const fact = { kind: 'path', text: 'src/kept.ts' };
  model.always(summariser(), keepsAll([fact, { kind: 'path', text: 'src/never-said.ts' }]));
  model.on(lastUser(/look/), reply.text('I looked at src/kept.ts and at src/lost.ts.'));
  model.on(lastUser(/and you/), reply.text('Fine.'));
  model.on(lastUser(/go on/), reply.text('On.'));
  const prompts = ['look around', 'and you?', '/compact keep the paths', 'go on'];
  const { turns, requests } = await run({ prompts, settings: probe.settings });
  expect(probe.order().slice(5, 9)).toEqual([
    'PreCompact:manual',
    'SubagentStop',
    'SessionStart:compact',
    'PostCompact:manual',
  ]);
  const ended = probe.fired().filter(({ hook_event_name: event }) => event === 'SubagentStop');
  expect(ended).toMatchObject([{ agent_type: '' }]);
  const [asked, ...others] = requests.requestsOf('summariser');
  expect(others).toEqual([]);
  expect(asked && contextOf(asked)).toMatch(/keep the paths[\s\S]*MARKER-PRE/);
  const after = requests.firstRequestAfterCompaction();
  expect(after.lastUser).toContain('go on');
  for (const there of ['MARKER-AFTER', 'src/kept.ts']) expect(contextOf(after)).toContain(there);
  for (const gone of ['src/lost.ts', 'src/never-said.ts']) expect(contextOf(after)).not.toContain(gone);
  expect(turns[2]?.events).toContainEqual(
    expect.objectContaining({ compact_metadata: expect.objectContaining({ trigger: 'manual' }) }),
  );
  expect(model.unmatched()).toEqual([]);
});

it('/clear begins another session that knows nothing of the first, and a session is resumed', async () => {
  const probe = createHookProbe(join(directory, 'hooks'), { 'SessionStart:clear': 'MARKER-CLEAR' });
  model.on(lastUser(/remember/), reply.text('I do.'));
  model.on(lastUser(/what was it/), reply.text('I do not know.'));
  const prompts = ['remember MARKER-OLD', '/clear', 'what was it?'];
  const { sessions, requests } = await run({ prompts, settings: probe.settings });
  expect(sessions).toHaveLength(2);
  expect(requests.containing('MARKER-OLD').map(({ n }) => n)).toEqual([1]);
  expect(inLastRequest('MARKER-CLEAR')).toBe(true);
  expect(probe.order().filter((event) => event.startsWith('Session'))).toEqual([
    'SessionStart:startup',
    'SessionEnd:clear',
    'SessionStart:clear',
    'SessionEnd:other',
  ]);
  // A resumed session is the same one in another process.
  model.on(lastUser(/and now/), reply.text('Yes.'));
  const [, resume = ''] = sessions;
  const again = await run({ prompts: ['and now'], resume });
  expect(again.sessions).toEqual([resume]);
  expect(inLastRequest('I do not know.')).toBe(true);
});

it('a full window is compacted in the middle of a tool loop, and the loop goes on', async () => {
  const probe = createHookProbe(join(directory, 'hooks'), { 'SessionStart:compact': 'MARKER-AFTER' });
  const bash = (word: string) => ({ command: `echo ${word}-$((40 + 2))`, description: 'Say it' });
  model.always(summariser(), forgetsAll());
  model.on(
    lastUser(/loop/),
    reply.tool('Bash', bash('one')),
    reply.tool('Bash', bash('two'), { usage: nearlyFull }),
    reply.tool('Bash', bash('three')),
    reply.text('Looped.'),
  );
  const { turns, requests } = await run({ prompts: ['loop MARKER-TASK'], settings: probe.settings });
  expect(turns[0]?.result).toBe('Looped.');
  expect(requests.all().map(({ kind }) => kind)).toEqual(['main', 'main', 'summariser', 'main', 'main']);
  expect(probe.order()).toContain('PreCompact:auto');
  const after = requests.firstRequestAfterCompaction();
  expect(contextOf(after)).toContain('MARKER-AFTER');
  expect(contextOf(after)).not.toContain('one-42');
  expect(inLastRequest('three-42')).toBe(true);
});

it('the requests of a subagent in the background are told apart from those of the main conversation', async () => {
  const input = {
    description: 'Look',
    prompt: 'SUB-TASK look',
    subagent_type: 'general-purpose',
    run_in_background: true,
  };
  model.on(lastUser(/delegate/), reply.tool('Agent', input), reply.text('Delegated.'));
  model.on(
    subagent(/SUB-TASK/),
    reply.tool('Bash', { command: 'echo sub', description: 'x' }),
    reply.text('SUB-DONE'),
  );
  // The turn in which the host tells of a background subagent's end.
  model.on(lastUser(/delegate/), reply.text('It has ended.'));
  model.on(lastUser(/next/), reply.text('Here.'));
  const { requests, turns } = await run({ prompts: ['delegate it', 'next'] });
  expect(turns.map(({ result }) => result)).toEqual(['Delegated.', 'Here.']);
  const subs = requests.requestsOf('subagent');
  expect(subs).toHaveLength(2);
  expect(new Set(subs.map(({ agent }) => agent)).size).toBe(1);
  expect(subs.every((request) => request.lastUser.startsWith('SUB-TASK'))).toBe(true);
  expect(requests.requestsOf('main').every(({ agent }) => agent === undefined)).toBe(true);
  expect(inLastRequest('SUB-DONE')).toBe(true);
  expect({ unmatched: requests.unmatched(), left: model.left() }).toEqual({ unmatched: [], left: 0 });
});

it('a side question of the host is no turn of the conversation', async () => {
  const hook = { type: 'prompt', prompt: 'SIDE-QUESTION: may it stop? $ARGUMENTS' };
  model.on(lastUser(/toil/), reply.text('Done.'));
  model.always(small(/SIDE-QUESTION/), reply.text('{"ok": true}'));
  const { requests, turns } = await run({
    prompts: ['toil'],
    settings: { hooks: { Stop: [{ hooks: [hook] }] } },
  });
  expect(turns[0]?.result).toBe('Done.');
  expect(requests.all().map(({ kind }) => kind)).toEqual(['main', 'small']);
  expect(requests.unmatched()).toEqual([]);
});

it('a session that gives no result is ended and says so', async () => {
  model.always(lastUser(/wait/), reply.text('Late.', { delayMs: 20_000 }));
  const session = await startClaude({ cwd, home, model, timeoutMs: 2_000 });
  await expect(session.send('wait')).rejects.toThrow("claude gave no result in 2000 ms to 'wait'");
  expect(() => process.kill(session.pid, 0)).toThrow();
  await session.close();
});

it('a project has Stepfast as a plugin, and its run can be looked at', async () => {
  const claude = await createClaudeProject({ '.stepfast/workflows/plain.yaml': plain });
  try {
    claude.model.on(
      lastUser(/begin/),
      toolCall.start('plain'),
      toolCall.status(),
      toolCall.advance('Planned.'),
      toolCall.advance('Built.'),
      reply.text('Done.'),
    );
    const { turns } = await claude.run({ prompts: ['begin'] });
    expect(turns).toMatchObject([{ result: 'Done.' }]);
    expect(await (await claude.project.onlyRun()).state()).toMatchObject({ status: 'complete' });
    expect(claude.model.unmatched()).toEqual([]);
  } finally {
    await claude[Symbol.asyncDispose]();
  }
});
