import type { HookKind, HookOutput } from '../../runtime/index.ts';

/** What differs in the answers that programs with hooks of Claude Code's shape accept. */
export interface AnswerFormat {
  /** Longer text does not reach the model as a whole. */
  contextCharacters: number;
  /** How the end of a turn is held: by feedback to the model, or by a decision with a reason. */
  held: 'feedback' | 'decision';
  /** A tool may be allowed without asking the person. */
  allows: boolean;
  /** Plain text before a compaction is added to the instructions of the summarizer. */
  survives: boolean;
}

const eventOf = {
  session_start: 'SessionStart',
  prompt: 'UserPromptSubmit',
  before_tool: 'PreToolUse',
  after_tool: 'PostToolUse',
  subagent_start: 'SubagentStart',
} as const satisfies Partial<Record<HookKind, string>>;

/** What a hook prints; empty where there is nothing to say. */
export function answerText(format: AnswerFormat, kind: HookKind, output: HookOutput): string {
  const { context, block, survive, say, stop } = output;
  const within = (text: string): string => cutTo(format.contextCharacters, text);
  const json: Record<string, unknown> = say === undefined ? {} : { systemMessage: say };
  if (stop !== undefined) return JSON.stringify({ ...json, continue: false, stopReason: stop });
  switch (kind) {
    case 'before_compact':
      // JSON would be added to the instructions, too.
      return survive === undefined || !format.survives ? '' : within(survive);
    case 'session_start':
    case 'prompt':
    case 'before_tool':
    case 'after_tool':
    case 'subagent_start': {
      const injected = context === undefined ? {} : { additionalContext: within(context) };
      const specific = { ...(kind === 'before_tool' ? permission(format, output) : {}), ...injected };
      if (Object.keys(specific).length > 0)
        json.hookSpecificOutput = { hookEventName: eventOf[kind], ...specific };
      break;
    }
    case 'stop':
      if (block === undefined) break;
      if (format.held === 'decision') Object.assign(json, { decision: 'block', reason: within(block) });
      else json.hookSpecificOutput = { hookEventName: 'Stop', additionalContext: within(block) };
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

function permission({ allows }: AnswerFormat, { deny, allow }: HookOutput): object {
  if (deny !== undefined) return { permissionDecision: 'deny', permissionDecisionReason: deny };
  return allow && allows ? { permissionDecision: 'allow' } : {};
}

/** Cuts text that the host would cut in its own way, and names the source of the rest. */
export function cutTo(characters: number, whole: string): string {
  if (whole.length <= characters) return whole;
  const last = '\n(cut here: workflow_context has all of it)';
  return `${whole.slice(0, characters - last.length)}${last}`;
}
