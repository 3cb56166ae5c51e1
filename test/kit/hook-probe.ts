/** Hooks in plain sh that write down what they got and print what they are told to. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface HookInput {
  hook_event_name: string;
  session_id: string;
  transcript_path: string;
  cwd: string;
  source?: string;
  trigger?: string;
  reason?: string;
  tool_name?: string;
  agent_id?: string;
  agent_type?: string;
  compact_summary?: string;
  custom_instructions?: string | null;
}

export interface HookProbe {
  /** For `--settings`. */
  settings: { hooks: Record<string, unknown[]> };
  fired(): HookInput[];
  /** `SessionStart:compact`, `PreToolUse:Bash`: the events with what they matched, in their order. */
  order(): string[];
}

export const hookEvents = [
  'SessionStart',
  'SessionEnd',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'Stop',
  'SubagentStart',
  'SubagentStop',
  'PreCompact',
  'PostCompact',
] as const;

/** `prints` by event, or by event and matcher (`SessionStart:compact`); an object is printed as JSON. */
export function createHookProbe(
  directory: string,
  prints: Readonly<Record<string, string | Record<string, unknown>>> = {},
): HookProbe {
  mkdirSync(directory, { recursive: true });
  const log = join(directory, 'hooks.jsonl');
  const hooks: Record<string, unknown[]> = {};
  const add = (event: string, command: string, matcher?: string): void => {
    hooks[event] ??= [];
    const entry = { hooks: [{ type: 'command', command, timeout: 20 }] };
    hooks[event].push(matcher === undefined ? entry : { matcher, ...entry });
  };
  for (const event of hookEvents) add(event, `input=$(cat); printf '%s\\n' "$input" >> '${log}'`);
  for (const [index, [key, value]] of Object.entries(prints).entries()) {
    const [event = key, matcher] = key.split(':');
    const file = join(directory, `prints-${index}`);
    writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value));
    add(event, `cat '${file}'`, matcher);
  }
  const fired = (): HookInput[] =>
    existsSync(log)
      ? readFileSync(log, 'utf8')
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => JSON.parse(line))
      : [];
  return {
    settings: { hooks },
    fired,
    order: () =>
      fired().map(({ hook_event_name: event, source, trigger, reason, tool_name: tool }) =>
        [event, source ?? trigger ?? reason ?? tool].filter((part) => part !== undefined).join(':'),
      ),
  };
}
