import type { HookInput, HookOutput, Host } from '../../../src/runtime/index.ts';

/** How a host would report an event, and what it would understand of the answer. */
export interface HostDialect {
  host: Host;
  /** The host's own names of tools, how a typed command begins, and its variable with the directory of the session. */
  names: { edit: string; status: string; command: string; project?: string };
  payload(input: HookInput): { event: string; payload: object };
  output(stdout: string): HookOutput;
  /** It has no subagents with events of their own that can be given context. */
  noSubagents?: true;
  /** Nothing ties a call of Stepfast's own tools to its session. */
  noCallIds?: true;
  /** What it shows to the person, on hosts where that is not part of `stdout`. */
  shown?(answer: { stderr: string; exitCode: number }): string | undefined;
  /** The id of a call of Stepfast's own tool, on hosts that give it none. */
  callId?(session: string): string;
}
