/** What the plugin knows of one session of this process. */
export interface PluginSession {
  id: string;
  /** Of a subagent: the session that started it. */
  parent?: PluginSession;
  agent: string;
  started: boolean;
  /** The prompt that is being answered; undefined between turns, and after the person has stopped one. */
  turn?: { id: string; continues?: string };
  /** The host has begun to answer it. */
  busy: boolean;
  /** A command of Stepfast as it was typed, whose template comes next. */
  typed?: string;
  /** Prompts of the plugin itself that have not come in yet. */
  own: { text: string; continues?: string }[];
  /** Turns that the plugin continued, one after the other. */
  held: number;
  assistant?: string;
  lastText: string;
  model?: { providerID: string; modelID: string };
  trigger: 'manual' | 'auto';
  compacting?: boolean;
  /** Since the last request. */
  usedTool?: boolean;
  /** The last compaction, and the last one that was reported. */
  summary?: string;
  reported?: string;
  /** Injected text that no request was seen with yet. */
  unsent: string[];
  /** Text for a message that the host wrote itself: added to every request. */
  anchored: { message: string; text: string }[];
  endWake?(): void;
}

export const newSession = (id: string, parent?: PluginSession): PluginSession => ({
  id,
  ...(parent ? { parent } : {}),
  agent: '',
  started: false,
  busy: false,
  own: [],
  held: 0,
  lastText: '',
  trigger: 'manual',
  unsent: [],
  anchored: [],
});

/** The session of the person, also for a subagent of a subagent. */
export const rootOf = (session: PluginSession): PluginSession =>
  session.parent ? rootOf(session.parent) : session;
