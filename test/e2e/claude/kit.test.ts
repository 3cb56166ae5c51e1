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
  lastUser,
  type RunOptions,
  reply,
  type ScriptedModel,
  small,
} from '../../../src/testing/index.ts';
import { runClaude, startClaude } from '../../kit/claude.ts';

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

function _inLastRequest(marker: string): boolean {
  const last = model.all().at(-1);
  return last !== undefined && contextOf(last).includes(marker);
}

it('tools of the script and hooks run for real, nothing of this machine is around, and what no rule answers is told', async () => {
  const hook = { type: 'command', command: 'echo MARKER-START' };
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
    settings: { hooks: { SessionStart: [{ hooks: [hook] }] } },
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
  expect(network).toBe((await canIsolate()) ? 'loopback' : 'open');
  const text = contextOf(requests.containing('interface:lo')[0] ?? expect.unreachable());
  expect(text).toContain(`variable:HOME=${home}\n`);
  expect(text).not.toContain('STEPFAST_KIT_SECRET');
  expect(network === 'open' || new Set(text.match(/interface:\w+$/gm)).size === 1).toBe(true);
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
