import type { HostDriver } from './host-driver.ts';
import type { HostSetup } from './host-setup.ts';
import type { HostTools } from './host-tools.ts';
import type { Source } from './sessions/plan-session-start.ts';

/** The kind of a hook event, independent of the host's own name for it. */
export type HookKind =
  | 'session_start'
  | 'session_end'
  | 'prompt'
  | 'before_tool'
  | 'after_tool'
  | 'before_compact'
  | 'stop'
  | 'subagent_start'
  | 'subagent_stop'
  /** Runs beside the hook of a stop or a session start, may wait, and can start a turn of an idle session. */
  | 'wake';

export type ToolKind = 'stepfast' | 'read' | 'write' | 'shell' | 'agent' | 'schedule' | 'other';

/** One tool call, as far as it matters to a run. */
export interface ToolUse {
  name: string;
  kind: ToolKind;
  /** What a shell runs. */
  command?: string;
  /** The file that is read or written. */
  path?: string;
  /** The files that are written, where one call may write several. */
  paths?: readonly string[];
  /** What a shell printed. */
  shown?: string;
  /** The read returned the whole file. */
  whole?: boolean;
  /** The tool is of the server that Stepfast's plugin brings. */
  own?: true;
  /** For Stepfast's own tools: the handle in the arguments, and the name of the tool. */
  at?: string;
  call?: string;
  /** The answer of Stepfast's own tool. */
  answer?: { run?: string; at?: string; refused: boolean };
  /** For a tool that starts a subagent or schedules a prompt: the subagent's type, and the prompt. */
  agent?: string;
  prompt?: string;
}

/** The input of a hook, the same for every host. */
export interface HookInput {
  host: string;
  kind: HookKind;
  session: string;
  /** The subagent in which the event happened. */
  agent?: { id: string; type?: string };
  cwd: string;
  /** The file in which the host stores the conversation. */
  transcript?: string;
  /** Distinguishes this event from the next of its kind, where the host provides an id. */
  id?: string;
  /** session_start */
  source?: Source;
  /** session_end: another session replaces this one. */
  cleared?: boolean;
  /** before_compact */
  trigger?: 'manual' | 'auto';
  /** before_tool, after_tool */
  tool?: ToolUse;
  /** stop: the turn continues already because a stop was held. */
  stopActive?: boolean;
  /** stop: the agent's last message. */
  lastMessage?: string;
  /** stop: tasks of the session still run in the background. */
  inBackground?: boolean;
  /** prompt: as it was typed. */
  prompt?: string;
}

/** What a hook asks of the host; a host does the part that it supports. */
export interface HookOutput {
  /** For the model. */
  context?: string;
  /** before_tool: why the tool may not be used. */
  deny?: string;
  /** before_tool: the person need not be asked. */
  allow?: true;
  /** stop, subagent_stop: why the turn continues. */
  block?: string;
  /** before_compact: instructions for the summarizer. */
  survive?: string;
  /** For the person. */
  say?: string;
  /** prompt: answers the person without a turn of the model. */
  stop?: string;
  /** wake: starts a turn with this text. */
  wake?: string;
  /** stop: the run waits for this, and the host performs it. */
  reset?: 'clear' | 'compact';
}

export interface Rendered {
  stdout: string;
  stderr?: string;
  exitCode: number;
  /** A command to start, which nobody waits for. */
  start?: readonly string[];
}

/** Whether injected text is in the conversation; `unknown` where the host cannot say. */
export type Arrival = 'whole' | 'cut' | 'missing' | 'unknown';

/** What a session has spent, as far as the host tells it. */
export interface Spending {
  turns: number;
  tokens: number;
  activeMs: number;
  /** US dollars. Absent: the host's transcript has none. */
  cost?: number;
}

export interface Compaction {
  trigger: 'manual' | 'auto';
  summary: string;
}

/** A row of the table in the documentation. */
export interface Capability {
  kind: HookKind;
  /** The host's own name. */
  event: string;
  /** What reaches the model, the summarizer or the host. */
  tells: 'context' | 'context and deny' | 'block' | 'summariser' | 'nothing';
  note: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export interface StatusLineInput {
  session: string;
  cwd: string;
  /** How full the context is, in percent. */
  pressure: number | undefined;
  /** US dollars that the host has counted so far; may begin anew. */
  cost: number | undefined;
}

/** The environment variables of a host. */
export interface HostVariables {
  /** Set in every command that an agent of this host runs, so that no agent passes for a person. */
  agent: readonly string[];
  /** Also set by the host. Gates see neither these nor `agent`: programs behave differently under an agent. */
  internal: readonly string[];
  /** Holds the id of the session whose shell runs the command. */
  session?: string;
  /** Holds the directory in which the session was opened. */
  project?: string;
}

export interface HostLimits {
  /** Characters of injected text that reach the model in full. */
  contextCharacters: number;
  /** How long the host waits for the hook of a tool, in milliseconds. */
  toolHookMs: number;
  /** How long the host waits for the hook of a stop, in milliseconds. */
  stopHookMs: number;
  /** How long a person waits for gates at a stop before they run in the background, in milliseconds. */
  stopCheckMs: number;
}

/**
 * An agent program: everything about its hooks that differs from other programs. Hooks are handed a host and never
 * name one.
 */
export interface Host {
  name: string;
  capabilities: readonly Capability[];
  variables: HostVariables;
  limits: HostLimits;
  /** Absent: its names of tools are not known, and any may be right. */
  tools?: HostTools;
  /**
   * What follows the event before a compaction. `exact`: a session start with the source `compact`, which proves that
   * the context was replaced. `hint`: nothing, so the next prompt or tool counts as the first one after it.
   * `none`: the host reports no compaction at all.
   */
  compaction: 'exact' | 'hint' | 'none';
  /** The host's plugin clears and compacts the session where a run asks for it; elsewhere a person does. */
  resets?: true;
  /** How a prompt begins that is a command of Stepfast; its name and words follow. */
  commands: RegExp;
  /**
   * The key in the `_meta` of an MCP call, or in its arguments where the host's plugin adds it there, with the id that
   * the hook before the tool received for the same call.
   */
  callIdKey?: string;
  /** An id of an event is never used again: what has the same one is a copy, however late it starts. */
  uniqueIds?: true;
  /** undefined for a payload of another host, and for an event that does not concern Stepfast: both are ignored. */
  parse(event: string, payload: unknown, env: Environment): HookInput | undefined;
  render(input: HookInput, output: HookOutput): Rendered;
  /** How often this turn was about to end before: tells two stops of one turn apart. undefined: it is not known. */
  stopsIn?(transcript: string, turn: string): number | undefined;
  /** Whether a person typed this prompt, as far as the host shows it. Absent: it never counts as typed. */
  typed?(input: HookInput, env: Environment, home: string): boolean;
  /** Whether hooks of a session start still run, on a host that starts those of the first prompt beside them. */
  isStarting?(transcript: string): boolean;
  /** The agent's last message in a turn, where the event of the stop does not have it. */
  lastMessage?(transcript: string, turn: string): string | undefined;
  /** Whether the turn used a tool that is no plain read; undefined where the transcript does not show it, or not yet. */
  acted?(transcript: string, turn: string, lastMessage: string | undefined): boolean | undefined;
  /** Looks for injected text after the last reset in the end of a transcript. Absent: there is no transcript to read. */
  arrival?(transcript: string, injected: { id: string; text: string }): Arrival;
  /** Until when the transcript is written, where the host writes it late: what was injected since cannot be in it. */
  writtenUntil?(transcript: string): number;
  /**
   * How the last compaction since a time stands in the end of a transcript, where the host writes it there and
   * `compaction` is `hint`. `running`: what is injected now may be lost with it. `failed`: the context was not replaced.
   */
  compactionState?(transcript: string, since: number): 'running' | 'done' | 'failed' | undefined;
  /** The last compaction in the end of a transcript. */
  lastCompaction?(transcript: string): Compaction | undefined;
  /** What the session and its subagents have spent since a time. Absent: budgets of turns and tokens do not count. */
  spending?(transcript: string, since: number): Promise<Spending>;
  /** Equal for tool calls that the model made in one message; undefined where the transcript does not show it. */
  callGroup?(transcript: string, callId: string): string | undefined;
  /** What the host's status line command reads from stdin. Absent: there is no status line. */
  parseStatusLine?(payload: unknown): StatusLineInput | undefined;
  /** Installation. Loaded on demand, since hooks start often and never need it. */
  setup?(): Promise<HostSetup>;
  /** Sessions without a person. Loaded on demand too. Absent: Stepfast cannot drive this host. */
  driver?(): Promise<HostDriver>;
}

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d/;

/** Codex names its transcripts so; events outside of a turn have no other mark. */
const isRollout = (path: unknown): boolean =>
  typeof path === 'string' && /(?:^|[\\/])rollout-[^\\/]*\.jsonl$/.test(path);

/** Gemini CLI names its transcripts so. */
const isChat = (path: unknown): boolean =>
  typeof path === 'string' && /[\\/]chats[\\/]session-[^\\/]*\.jsonl?$/.test(path);

/**
 * Hosts read each other's settings files, so a hook of one host also fires in others. This names the host that sent a
 * payload, where the payload shows it. Environment variables are inherited by child processes, so Gemini's variable
 * alone proves nothing.
 */
export function markedHost(
  payload: Readonly<Record<string, unknown>>,
  env: Environment,
): 'cursor' | 'codex' | 'gemini' | 'copilot' | undefined {
  if (payload.cursor_version !== undefined) return 'cursor';
  if (payload.turn_id !== undefined || isRollout(payload.transcript_path)) return 'codex';
  if (typeof payload.sessionId === 'string' && typeof payload.timestamp === 'number') return 'copilot';
  if (typeof payload.timestamp !== 'string' || !isoTime.test(payload.timestamp)) return undefined;
  return env.GEMINI_PROJECT_DIR !== undefined || isChat(payload.transcript_path) ? 'gemini' : 'copilot';
}
