import type { HookInput, HookKind, HookOutput, Rendered } from '../../runtime/index.ts';

/** The host replaces longer text by a preview of 2 KB and a file. */
export const contextCharacters = 9000;

const eventOf = {
  session_start: 'SessionStart',
  prompt: 'UserPromptSubmit',
  before_tool: 'PreToolUse',
  after_tool: 'PostToolUse',
  subagent_start: 'SubagentStart',
} as const satisfies Partial<Record<HookKind, string>>;

/** Exit 0 unless it wakes the session: any other status shows an error to the person, and 2 blocks. */
export function render({ kind }: HookInput, output: HookOutput): Rendered {
  if (kind !== 'wake') return { stdout: text(kind, output), exitCode: 0 };
  // The host starts a turn with the text of an asynchronous hook that exits with 2.
  return output.wake === undefined
    ? { stdout: '', exitCode: 0 }
    : { stdout: '', stderr: within(output.wake), exitCode: 2 };
}

function text(kind: HookKind, { context, deny, allow, block, survive, say, stop }: HookOutput): string {
  const json: Record<string, unknown> = say === undefined ? {} : { systemMessage: say };
  if (stop !== undefined) return JSON.stringify({ ...json, continue: false, stopReason: stop });
  switch (kind) {
    case 'before_compact':
      // Plain text is appended to the summarizer's instructions, and so would JSON be.
      return survive === undefined ? '' : within(survive);
    case 'session_start':
    case 'prompt':
    case 'before_tool':
    case 'after_tool':
    case 'subagent_start': {
      const decision =
        kind !== 'before_tool'
          ? {}
          : deny !== undefined
            ? { permissionDecision: 'deny', permissionDecisionReason: deny }
            : allow
              ? { permissionDecision: 'allow' }
              : {};
      const injected = context === undefined ? {} : { additionalContext: within(context) };
      const specific = { ...decision, ...injected };
      if (Object.keys(specific).length > 0)
        json.hookSpecificOutput = { hookEventName: eventOf[kind], ...specific };
      break;
    }
    case 'stop':
      // Shown as feedback; a blocked stop is shown as an error.
      if (block !== undefined)
        json.hookSpecificOutput = { hookEventName: 'Stop', additionalContext: within(block) };
      break;
    case 'subagent_stop':
      if (block !== undefined) Object.assign(json, { decision: 'block', reason: block });
      break;
    case 'wake':
    case 'session_end':
      return '';
  }
  return Object.keys(json).length === 0 ? '' : JSON.stringify(json);
}

/** Cuts text that the host would replace by a preview, and names the source of the rest. */
function within(whole: string): string {
  if (whole.length <= contextCharacters) return whole;
  const last = '\n(cut here: workflow_context has all of it)';
  return `${whole.slice(0, contextCharacters - last.length)}${last}`;
}
