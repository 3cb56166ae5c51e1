import { expect, test } from 'vitest';
import {
  agentVariables,
  callIdIn,
  hosts,
  loadHostSetups,
  sessionIn,
  withoutAgentVariables,
} from './index.ts';

test.each(['CLAUDECODE', 'CODEX_SANDBOX', 'GEMINI_CLI', 'OPENCODE', 'CURSOR_AGENT', 'STEPFAST_AGENT'])(
  '%s marks a command of an agent',
  (name) => {
    expect(agentVariables).toContain(name);
  },
);

test('gates see no variable of a host', () => {
  const all = hosts.flatMap(({ variables }) => [...variables.agent, ...variables.internal]);
  expect(all).not.toEqual([]);
  const env = Object.fromEntries([...all, 'AGENT', 'CODEX_THREAD_ID', 'PATH'].map((name) => [name, '1']));
  expect(withoutAgentVariables(env)).toEqual({ PATH: '1' });
});

test('every host has a name of its own, and its setup the same one', async () => {
  const names = hosts.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  const withSetup = hosts.filter(({ setup }) => setup).map(({ name }) => name);
  expect((await loadHostSetups()).map(({ name }) => name)).toEqual(withSetup);
});

test('a call and a shell of a session name it', () => {
  expect(sessionIn({ CLAUDE_CODE_SESSION_ID: ' s1 ' })).toBe('s1');
  expect(sessionIn({ CLAUDE_CODE_SESSION_ID: '' })).toBeUndefined();
  expect(callIdIn({ 'claudecode/toolUseId': 't1' })).toBe('t1');
  expect(callIdIn({ other: 't1' })).toBeUndefined();
});
