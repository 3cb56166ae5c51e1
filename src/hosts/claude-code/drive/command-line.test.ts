import { expect, test } from 'vitest';
import type { DrivenOptions } from '../../../runtime/index.ts';
import { argumentsFor as argumentsOf, environmentFor } from './command-line.ts';

const argumentsFor = (options: DrivenOptions): string[] => argumentsOf(options, 's');

const common = { cwd: '/', env: {}, command: ['node', 'cli.js'], onEvent: () => {} };
const after = (args: readonly string[], flag: string): string | undefined => args[args.indexOf(flag) + 1];

test('the tools of an agent become rules of the host', () => {
  const args = argumentsFor({
    ...common,
    plugin: '/p',
    tools: ['read', 'Bash(git *)', 'Notebook*', 'mcp__docs__*', '*', 'unknown_tool'],
    cannot: ['WebFetch', 'mcp__*'],
  });
  expect(after(args, '--allowedTools')).toBe(
    'mcp__plugin_stepfast_stepfast,mcp__stepfast,Read,Bash(git *),NotebookEdit,mcp__docs',
  );
  expect(after(args, '--disallowedTools')).toBe('WebFetch');
  expect(args).not.toContain('--mcp-config');
  expect(args).not.toContain('--setting-sources');
});

test('without a plugin the tools come from a server that the command starts', () => {
  const args = argumentsFor(common);
  expect(JSON.parse(after(args, '--mcp-config') ?? '')).toEqual({
    mcpServers: { stepfast: { command: 'node', args: ['cli.js', 'mcp'] } },
  });
});

test('a session is resumed by its id, and nothing is bypassed', () => {
  const args = argumentsFor({ ...common, resume: 's', model: 'opus', permissions: 'acceptEdits' });
  expect([after(args, '--resume'), after(args, '--model'), after(args, '--permission-mode')]).toEqual([
    's',
    'opus',
    'acceptEdits',
  ]);
  expect(args).not.toContain('--session-id');
  expect(() => argumentsFor({ ...common, permissions: 'bypassPermissions' })).toThrow(
    expect.objectContaining({ code: 'bad_permissions' }),
  );
});

test("the person's environment is passed on, but not that of a surrounding session", () => {
  const env = { ANTHROPIC_API_KEY: 'k', PATH: '/bin', CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: 'x' };
  expect(environmentFor(env)).toEqual({
    MCP_CONNECTION_NONBLOCKING: '0',
    ANTHROPIC_API_KEY: 'k',
    PATH: '/bin',
  });
});
