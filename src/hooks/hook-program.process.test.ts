/** The bundled hook as processes: what only several of them, or a broken call, can show. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createHookKit, type HookKit } from '../../test/kit/hooks.ts';

const top = join(import.meta.dirname, '..', '..');
const main = join(top, 'dist', 'hook.cjs');
const workflow = `name: w
description: One step
steps: [{ id: work, type: action, instructions: Do the work. }]
`;

const rounds = 3;

let kit: HookKit;
beforeEach(() => {
  kit = createHookKit({ '.stepfast/workflows/w.yaml': workflow });
});
afterEach(() => kit[Symbol.dispose]());

async function hook(
  args: string[],
  input: string,
  node: string[] = [],
  env = kit.project.env,
): Promise<{ stdout: string; stderr: string; code: number }> {
  const child = spawn(process.execPath, [...node, main, ...args], { env, stdio: 'pipe' });
  const out = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    out.stderr += text;
  });
  child.stdin.end(input);
  const [code] = await once(child, 'close');
  return { ...out, code };
}

test('of three processes that are started for one event, one speaks', async () => {
  const { run, at } = await kit.start();
  await kit.called('a', { run, at });
  const claude = ['--host', 'claude-code', 'SessionStart'];
  for (let round = 0; round < rounds; round += 1) {
    const input = JSON.stringify({
      session_id: 'a',
      transcript_path: kit.transcript,
      cwd: kit.project.root,
      hook_event_name: 'SessionStart',
      source: 'compact',
      prompt_id: String(round),
    });
    const fired = await Promise.all([hook(claude, input), hook(claude, input), hook(claude, input)]);
    expect(fired.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(fired.filter(({ stdout }) => stdout.includes('Do the work.'))).toHaveLength(1);
  }
  const view = await kit.runtime.engine.view(run);
  expect(view?.state.sessions.a?.resets).toBe(rounds);
});

test.each([
  [['--host', 'claude-code', 'SessionStart'], 'no JSON'],
  [['--host', 'claude-code', 'SessionStart'], ''],
  [['--host', 'nobody', 'SessionStart'], '{}'],
  [[], '{}'],
])('whatever is wrong, the exit status is 0, stdout is empty and stderr tells: %j', async (args, input) => {
  await kit.start();
  const { stdout, stderr, code } = await hook(args, input);
  expect({ stdout, code }).toEqual({ stdout: '', code: 0 });
  expect(stderr).toMatch(/^stepfast hook/);
});

test.each([
  ['a private', 0o700, true],
  ['a shared', 0o777, false],
])('compiled code is kept in %s folder: %j', async (_, mode, kept) => {
  const cache = join(kit.project.root, '..', 'cache');
  mkdirSync(cache);
  chmodSync(cache, mode);
  const { NODE_COMPILE_CACHE: _ours, ...env } = kit.project.env;
  await hook(['--host', 'claude-code', 'SessionStart'], '{}', [], { ...env, XDG_CACHE_HOME: cache });
  expect(existsSync(join(cache, 'stepfast', 'compiled'))).toBe(kept);
});

test('an older Node is reported in one line', async () => {
  // The program looks at this and nothing else.
  kit.project.write({
    'older.cjs': "Object.defineProperty(process.versions, 'node', { value: '18.20.8' });\n",
  });
  const older = ['--require', join(kit.project.root, 'older.cjs')];
  const { stdout, code } = await hook(['--host', 'claude-code', 'SessionStart'], '{}', older);
  expect(code).toBe(0);
  expect(JSON.parse(stdout).systemMessage).toContain('Stepfast needs Node 22.18 or newer');
});
