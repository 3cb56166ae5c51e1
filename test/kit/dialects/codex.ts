import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { codex } from '../../../src/hosts/codex/index.ts';
import { claudeDialect } from './claude-code.ts';
import type { HostDialect } from './dialect.ts';

const codexTools = { read: 'Bash', write: 'apply_patch', shell: 'Bash', agent: 'spawn_agent' } as const;

/** Like Claude Code, but for names, and files that are read in a shell. */
export const codexDialect: HostDialect = {
  host: codex,
  names: { edit: 'apply_patch', status: 'mcp__stepfast__workflow_status', command: '$stepfast ' },
  payload(input) {
    const { event, payload } = claudeDialect.payload(input);
    const { tool, id, cwd } = input;
    const { path = '', command, prompt, agent, at } = tool ?? {};
    const patch = `*** Begin Patch\n*** Update File: ${path}\n*** End Patch\n`;
    const used = tool && {
      tool_name:
        tool.kind === 'stepfast' || tool.kind === 'other' || tool.kind === 'schedule'
          ? tool.name
          : codexTools[tool.kind],
      tool_input: {
        command: tool.kind === 'write' ? patch : command,
        agent_type: agent,
        message: prompt,
        at,
      },
      ...(tool.kind === 'read' && tool.whole !== false
        ? { tool_response: readFileSync(resolve(cwd, path), 'utf8') }
        : {}),
    };
    const rollout = '/nowhere/rollout-2026-11-17T19-34-55-x.jsonl';
    const turn = ['session_start', 'session_end'].includes(input.kind) ? {} : { turn_id: id ?? 'turn' };
    return {
      event,
      payload: { ...payload, prompt_id: undefined, ...turn, ...used, transcript_path: rollout },
    };
  },
  output: (stdout) => claudeDialect.output(stdout),
};
