import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { costMeter } from '../../test/kit/cpu-time.ts';
import { createHookKit, type HookKit } from '../../test/kit/hooks.ts';
import { isServed } from '../../test/kit/is-served.ts';
import { claudeCode } from '../hosts/claude-code/index.ts';
import { runHook } from './run-hook.ts';
import { pendingReason } from './session-record.ts';

const workflow = `name: w
description: Plans and builds
steps:
  - { id: plan, type: action, instructions: Write the plan. }
stop: hold
`;

let kit: HookKit;
let run: string;
let at: string;
beforeEach(async () => {
  kit = createHookKit({ '.stepfast/workflows/w.yaml': workflow });
  ({ run, at } = await kit.start());
});
afterEach(() => kit[Symbol.dispose]());

const resets = async () => (await kit.runtime.engine.view(run))?.state.sessions.a?.resets;
const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
const compact = () => kit.fire('SessionStart', { source: 'compact' });

describe('a hook never breaks a session', () => {
  test('two copies of one event act once', async () => {
    await kit.called('a', { run, at });
    const event = { source: 'compact', prompt_id: 'same' };
    const fired = await Promise.all([kit.fire('SessionStart', event), kit.fire('SessionStart', event)]);
    expect(fired.filter(({ stdout }) => stdout !== '')).toHaveLength(1);
    expect(await resets()).toBe(1);
    // The next compaction of the same prompt is another event.
    await kit.fire('PreCompact', { trigger: 'auto', prompt_id: 'same' });
    expect((await kit.fire('SessionStart', event)).context).toContain('ACTION REQUIRED');
  });

  test.skipIf(isServed)(
    'a run that cannot be read is told on stderr and in the log, and stdout is empty',
    async () => {
      await kit.called('a', { run, at });
      kit.project.write({ [`.stepfast/runs/${run}/journal.jsonl`]: 'broken\n' });
      const { stdout, stderr, exitCode } = await compact();
      expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 0 });
      expect(stderr).toContain('stepfast hook SessionStart: ');
      expect(kit.log().at(-1)).toMatchObject({ what: 'error', event: 'SessionStart' });
    },
  );

  test('where nothing can be written the briefing comes all the same', async () => {
    await kit.called('a', { run, at });
    const sessions = join(kit.runtime.project.directory, 'sessions');
    for (const folder of ['hooks', 'server-runs']) {
      rmSync(join(sessions, folder), { recursive: true, force: true });
      writeFileSync(join(sessions, folder), 'no folder');
    }
    mkdirSync(join(sessions, 'marks', 'because', pendingReason({ host: 'claude-code', session: 'a' })));
    const { context, exitCode } = await compact();
    expect(exitCode).toBe(0);
    expect(context).toContain('ACTION REQUIRED');
  });

  test('[002/9] a folder that leads out of the project is not written to', async () => {
    await kit.called('a', { run, at });
    const sessions = join(kit.runtime.project.directory, 'sessions');
    const outside = join(kit.project.root, '..', 'outside');
    for (const name of ['sessions/hooks', 'sessions', '.']) {
      const link = join(kit.runtime.project.directory, name);
      rmSync(outside, { recursive: true, force: true });
      cpSync(link, outside, { recursive: true });
      rmSync(link, { recursive: true });
      symlinkSync(outside, link);
      const before = filesBelow(outside);
      const { stdout, stderr, exitCode } = await compact();
      expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 0 });
      expect(stderr).toContain('is a link that leads out of the project');
      expect(filesBelow(outside)).toEqual(before);
      rmSync(link);
      cpSync(outside, link, { recursive: true });
    }
    expect(existsSync(sessions)).toBe(true);
  });

  test.each(['', 'no JSON', '[]', 'null', '{"session_id":1}', `{"session_id":"${'a'.repeat(300)}"}`])(
    'input that is none is told on stderr at most: %j',
    async (input) => {
      const environment = { env: {}, commandEnv: {}, home: '', now: Date.now, pid: undefined, program: '' };
      const { stdout, exitCode } = await runHook(claudeCode, 'SessionStart', input, environment);
      expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 0 });
    },
  );

  test('damaged files of its own are as good as none', async () => {
    await kit.called('a', { run, at });
    await compact();
    for (const file of filesBelow(join(kit.runtime.project.directory, 'sessions')))
      if (file.endsWith('.json')) writeFileSync(file, '{"v":1,');
    await kit.fire('UserPromptSubmit', { prompt: 'go on' });
    expect((await compact()).context).toContain('ACTION REQUIRED');
  });

  test('a transcript that is missing or huge costs no time, one that may still grow is waited for', async () => {
    await kit.called('a', { run, at });
    const { context } = await compact();
    kit.accept(context);
    appendFileSync(kit.transcript, `${'x'.repeat(30 * 1024 * 1024)}\n`);
    kit.accept(context);
    const spent = costMeter();
    expect((await kit.fire('UserPromptSubmit', { prompt: 'go on' })).stdout).toBe('');
    expect(spent()).toBeLessThan(60);
    rmSync(kit.transcript);
    await compact();
    using timers = vi.spyOn(globalThis, 'setTimeout');
    const pauses = (): number => timers.mock.calls.filter(([, ms]) => ms === 25).length;
    expect((await kit.fire('Stop', {})).exitCode).toBe(0);
    expect(pauses()).toBe(0);
    kit.writeDown({ type: 'user' });
    expect((await kit.fire('Stop', {})).exitCode).toBe(0);
    expect(pauses()).toBeGreaterThan(0);
  });

  test('a session whose directory is gone is left alone', async () => {
    await kit.called('a', { run, at });
    expect(await kit.fire('SessionStart', { cwd: join(kit.project.root, 'gone') })).toMatchObject({
      stdout: '',
      exitCode: 0,
    });
  });
});
