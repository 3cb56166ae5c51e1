import type { FoundHost } from './host-setup.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Names a file with the host and the session whose tools a server serves, for hosts that tell it in no other way. It is
 * written once the session has an id.
 */
export const sessionFileVariable = 'STEPFAST_SESSION_FILE';

/** Opens sessions of a host that nobody sits at. Loaded on demand: hooks start often and never need it. */
export interface HostDriver {
  /** What of a budget this host reports. */
  reports: readonly ('turns' | 'tokens' | 'minutes' | 'cost')[];
  /** The program; undefined if it is not installed. */
  find(env: Environment, cwd: string): Promise<FoundHost | undefined>;
  /**
   * Starts the program. Throws `host_missing` if it is not installed, and `bad_permissions` for a permission mode that
   * a session without a person may not have.
   */
  open(options: DrivenOptions): Promise<DrivenSession>;
}

export interface DrivenOptions {
  /** Continues this session, after a crash of the driver or of the host. */
  resume?: string;
  cwd: string;
  /** The person's environment, with their own login, and what the driver adds. */
  env: Environment;
  /** Starts Stepfast; used for the tools where there is no plugin. */
  command: readonly string[];
  /** The directory of Stepfast's plugin: hooks, tools and skills. */
  plugin?: string;
  /** The rest is what the workflow says of its agent, in the host's words. */
  model?: string;
  permissions?: string;
  tools?: readonly string[];
  cannot?: readonly string[];
  /** Called with the id of the session before its first hook runs. */
  onSession?(session: string): Promise<void>;
  onEvent(event: HostEvent): void;
}

export type HostEvent =
  /** Any line of the host. */
  | { type: 'activity' }
  /** A tool call begins or ends. `detail` is one short line for the screen. */
  | { type: 'tool'; id: string; name: string; open: boolean; detail?: string }
  /** What the agent says. */
  | { type: 'text'; text: string }
  /** The host retries the model service by itself. `resetAt` is in milliseconds since the epoch. */
  | { type: 'retry'; status?: number; waitMs?: number; resetAt?: number }
  /** A tool call was refused that a person would have been asked about. */
  | { type: 'denied'; tool: string }
  | { type: 'compacted'; trigger: 'manual' | 'auto' };

export type TurnFailure =
  /** The model service refused, also for a lost login or a usage limit. `resetAt` is in milliseconds since the epoch. */
  | { kind: 'model_service'; status?: number; resetAt?: number; text: string }
  /** The process ended during the turn. */
  | { kind: 'exit'; code: number | null; signal: string | null; text: string }
  /** A limit of the host: turns, cost, or a context that is too long. */
  | { kind: 'limit'; text: string };

export interface TurnEnd {
  lastMessage: string;
  /** Since the process started, also where a session was resumed. Tokens read from a cache do not count. */
  spent: { tokens: number; cost?: number };
  /** The tools of the calls that were refused in this turn. */
  denials: string[];
  /** The turn was ended by `interrupt`. */
  interrupted?: true;
  failure?: TurnFailure;
}

export interface DrivenSession {
  readonly session: string;
  readonly pid: number;
  /** One turn; one at a time. Never rejects because the host ended: that is a failure of the kind `exit`. */
  send(prompt: string): Promise<TurnEnd>;
  /** The same as at the end of a turn, while it goes on. Absent: the hooks of the host tell it in time. */
  spent?(): Promise<TurnEnd['spent']>;
  /** True only if the host has reported the compaction. */
  compact(instructions?: string): Promise<boolean>;
  /** Ends the turn; the session accepts the next prompt. Does nothing if the host does not react. */
  interrupt(): Promise<void>;
  /** Closes its input, waits, then ends its process group with SIGTERM and with SIGKILL. */
  end(graceMs?: number): Promise<void>;
  /** The process has ended. */
  readonly exited: Promise<void>;
}
