import { expect, test } from 'vitest';
import { agentMark, notAPerson } from './person-or-agent.ts';

test("a terminal without an agent's variables may be a person's", () => {
  expect(notAPerson({ terminal: true, env: { HOME: '/home/a', CODEX_HOME: '/x' } })).toBeUndefined();
});

test('a pipe is nobody', () => {
  expect(notAPerson({ terminal: false, env: {} })).toContain('terminal');
});

test.each(['CLAUDECODE', 'CODEX_SANDBOX', 'GEMINI_CLI', 'OPENCODE', 'CURSOR_AGENT'])(
  '%s gives an agent away',
  (name) => {
    expect(agentMark({ [name]: '1' })).toBe(name);
    expect(notAPerson({ terminal: true, env: { [name]: '1' } })).toContain(name);
    expect(agentMark({ [name]: '' })).toBeUndefined();
  },
);
