import type { Source } from './sessions/begin-session.ts';

/** What a host's hook is about, whatever the host calls it. */
export type HookKind =
  | 'session_start'
  | 'session_end'
  | 'prompt'
  | 'before_tool'
  | 'after_tool'
  | 'before_compact'
  | 'after_compact'
  | 'stop'
  | 'subagent_start'
  | 'subagent_stop';

export type ToolKind = 'stepfast' | 'read' | 'write' | 'shell' | 'agent' | 'other';

/** One use of a tool, as far as it matters to a run. */
export interface ToolUse {
  name: string;
  kind: ToolKind;
  /** Of the file that is read or written. */
  path?: string;
  /** A read that brought the whole file. */
  whole?: boolean;
  /** The handle that a call of Stepfast's tools carried, and which tool it was. */
  at?: string;
  call?: string;
  /** What Stepfast's tool answered. */
  answer?: { run?: string; at?: string; refused: boolean };
  /** A subagent that is started: its type and what it is told. */
  agent?: string;
  prompt?: string;
}

/** A hook's input, the same for every host. */
export interface HookInput {
  host: string;
  kind: HookKind;
  session: string;
  /** The subagent that it happened in. */
  agent?: { id: string; type?: string };
  cwd: string;
  /** The file in which the host keeps the conversation. */
  transcript?: string;
  /** Tells this event from the next of its kind, where the host numbers them. */
  id?: string;
  /** session_start */
  source?: Source;
  /** session_end: another session takes its place. */
  cleared?: boolean;
  /** before_compact, after_compact */
  trigger?: 'manual' | 'auto';
  /** after_compact */
  summary?: string;
  /** before_tool, after_tool */
  tool?: ToolUse;
  /** stop: the host goes on already because a stop was held. */
  stopActive?: boolean;
}

/** What a hook wants; a host does what it can of it. */
export interface HookOutput {
  /** For the model. */
  context?: string;
  /** before_tool: why the tool may not be used. */
  deny?: string;
  /** stop, subagent_stop: why the turn goes on. */
  block?: string;
  /** before_compact: for whoever summarises. */
  survive?: string;
  /** For the person. */
  say?: string;
}

export interface Rendered {
  stdout: string;
  exitCode: number;
}

/** Whether an injected text stands in the conversation; `unknown` where the host cannot tell. */
export type Arrival = 'whole' | 'cut' | 'missing' | 'unknown';

/** A line of the table that the documentation shows. */
export interface Capability {
  kind: HookKind;
  /** The host's own name. */
  event: string;
  /** What reaches the model, the summariser or the host. */
  tells: 'context' | 'context and deny' | 'block' | 'summariser' | 'nothing';
  note: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** An agent program: how its hooks speak. Pure; a host knows no other. */
export interface Host {
  name: string;
  capabilities: readonly Capability[];
  /** Characters of injected text that arrive whole. */
  budget: number;
  /** undefined for what is not this host's, or concerns nobody: it is ignored. */
  parse(event: string, payload: unknown, env: Environment): HookInput | undefined;
  render(input: HookInput, output: HookOutput): Rendered;
  /** Looks for what was injected after the last time the context was emptied. */
  arrival(transcript: string, sent: { id: string; text: string }): Arrival;
}

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d/;

/**
 * Settings are shared among hosts, so a hook also fires in others: whose payload it is, where a mark of theirs shows
 * it. An environment is inherited by what is started in it, so the variable of Gemini alone proves nothing.
 */
export function markedHost(
  payload: Readonly<Record<string, unknown>>,
  env: Environment,
): 'cursor' | 'codex' | 'gemini' | 'copilot' | undefined {
  if (payload.cursor_version !== undefined) return 'cursor';
  if (payload.turn_id !== undefined) return 'codex';
  if (typeof payload.timestamp !== 'string' || !isoTime.test(payload.timestamp)) return undefined;
  return env.GEMINI_PROJECT_DIR === undefined ? 'copilot' : 'gemini';
}
