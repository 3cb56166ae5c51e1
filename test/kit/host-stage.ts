import type { HostProgram } from '../../scripts/install-hosts.ts';
import type { MessageReply, ReplyOptions, ScriptedModel, TestProject } from '../../src/testing/index.ts';

/** Of a suite: `smoke` is the test that CI always runs, `rest` all others. */
export type Part = 'all' | 'smoke' | 'rest';

/** A project in which the program of a host is first on the PATH, with a scripted model and a home of its own. */
export interface HostStage {
  project: TestProject;
  model: ScriptedModel;
  /** Of the person. */
  env: Record<string, string>;
}

/** What tests of the driver need to know of a host. */
export interface DrivenHost {
  /** As Stepfast names it. */
  name: string;
  /** As a person types it. */
  program: HostProgram;
  prepare(files: Record<string, string>): Promise<HostStage>;
  /** In a driven session nobody can be asked, so the project allows what its agents need. */
  settings: Record<string, string>;
  /**
   * What makes the host ask a person before it runs a command, and a tool that a workflow can forbid. Absent: the host
   * asks nothing in a driven session.
   */
  asks?: { files?: Record<string, string>; env?: Record<string, string>; cannot: string };
  /** A permission mode that no driven session may have. */
  unlimited: string;
  /** A compaction keeps what users wrote, and with it what the driver wrote. */
  keepsPrompts?: true;
  /** The model runs this in a shell. */
  shell(command: string, options?: ReplyOptions): MessageReply;
  /** The model calls a tool of Stepfast. */
  own(tool: string, input: Record<string, unknown>): MessageReply;
}

/** A session as a person has it: with the plugin that `stepfast init` installed, and with all it was asked trusted. */
export interface HostSession {
  readonly id: string;
  /** One turn, to its end. */
  send(prompt: string): Promise<void>;
  /** As the person asks for it. */
  compact(): Promise<void>;
  end(): Promise<void>;
}

/** What tests of sessions need to know of a host. */
export interface SessionHost extends DrivenHost {
  /** Installs Stepfast if a host has a cheaper way than `init` in each test. */
  install?(stage: HostStage, init: () => Promise<void>): Promise<void>;
  /** A new session, or one that is continued. */
  open(stage: HostStage, resume?: string): Promise<HostSession>;
  /** Settings of the person that an installation may change. */
  personFiles(stage: HostStage): string[];
  /** How a command of Stepfast is typed. */
  command(words: string): string;
  /** The model reads or writes a file; `project` is the folder that paths are relative to. */
  read(file: string, project: string): MessageReply;
  write(file: string, text: string, project: string): MessageReply;
  /** Whether the model's first request after a compaction has the briefing, or only what follows the next tool or prompt. */
  afterCompaction: 'next request' | 'next turn';
  /** The host does not record whether a person asked for a compaction. */
  hidesTrigger?: true;
  /** Reported usage that makes the host compact before its next request. */
  nearlyFull: NonNullable<ReplyOptions['usage']>;
}
