import { join } from 'node:path';
import { hooksFile, type Registration, shimCommand } from '../claude-format/index.ts';
import { quoted } from '../program.ts';
import { hostName } from './parse-payload.ts';

/** The hooks as Codex reads them. `plugin`: its stable folder, since a changed command has to be trusted again. */
export const pluginHooks = (plugin: string): Record<string, object[]> =>
  hooksFile(registrations, (registration) => hookFor(plugin, registration)).hooks;

function hookFor(plugin: string, registration: Registration): object {
  const { timeout, status, wakes } = registration;
  const shim = quoted(join(plugin, 'hooks', 'stepfast-hook.sh'));
  return {
    type: 'command',
    command: `${shimCommand(hostName, shim, registration)} || :`,
    timeout,
    ...(status === undefined ? {} : { statusMessage: status }),
    ...(wakes === undefined ? {} : { async: true }),
  };
}

const stepfastTools = 'mcp__stepfast__.*';

const registrations: readonly Registration[] = [
  { event: 'SessionStart', mark: 'session_start', timeout: 15 },
  { event: 'SessionEnd', mark: 'session_end', timeout: 3 },
  { event: 'UserPromptSubmit', mark: 'prompt', timeout: 15 },
  { event: 'PreCompact', mark: 'before_compact', timeout: 15 },
  { event: 'Stop', mark: 'stop', timeout: 60, status: 'Stepfast checks the work' },
  { event: 'Stop', mark: 'stop_wake', timeout: 7200, wakes: 'Stepfast: a check has ended' },
  { event: 'SubagentStart', mark: 'subagent_start', timeout: 15 },
  { event: 'SubagentStop', mark: 'subagent_stop', timeout: 60 },
  // Codex knows no look-ahead: what a hook of one tool handles, the other leaves alone.
  { event: 'PreToolUse', mark: 'before_tool', timeout: 10 },
  { event: 'PreToolUse', matcher: stepfastTools, mark: 'before_tool-stepfast', timeout: 10 },
  { event: 'PreToolUse', matcher: 'spawn_agent', mark: 'before_tool-agent', timeout: 10 },
  { event: 'PostToolUse', matcher: stepfastTools, mark: 'after_tool-stepfast', timeout: 15 },
  { event: 'PostToolUse', matcher: 'apply_patch', mark: 'after_tool-write', timeout: 15 },
  // Files are read in the shell, too.
  { event: 'PostToolUse', matcher: 'Bash', mark: 'after_tool-read', timeout: 15 },
  { event: 'PostToolUse', matcher: 'Bash', mark: 'after_tool-shell', timeout: 15 },
];
