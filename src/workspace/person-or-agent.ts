/** Variables that agent programs set for the commands they run. */
const agentMarks: readonly string[] = [
  'CLAUDECODE',
  'CLAUDE_CODE_ENTRYPOINT',
  'CLAUDE_CODE_SESSION_ID',
  'CODEX_SANDBOX',
  'CODEX_SANDBOX_NETWORK_DISABLED',
  'CODEX_THREAD_ID',
  'GEMINI_CLI',
  'OPENCODE',
  'COPILOT_AGENT',
  'COPILOT_CLI',
  'CURSOR_AGENT',
  'AGENT',
  'AI_AGENT',
  'STEPFAST_AGENT',
];

/** The first variable that gives an agent away. */
export function agentMark(env: Readonly<Record<string, string | undefined>>): string | undefined {
  return agentMarks.find((name) => env[name] !== undefined && env[name] !== '');
}

/** Why whoever calls cannot be taken for a person; undefined where they can be asked. */
export function notAPerson(circumstances: {
  terminal: boolean;
  env: Readonly<Record<string, string | undefined>>;
}): string | undefined {
  const mark = agentMark(circumstances.env);
  if (mark !== undefined) return `${mark} is set, so an agent may be calling`;
  return circumstances.terminal ? undefined : 'this is no terminal';
}
