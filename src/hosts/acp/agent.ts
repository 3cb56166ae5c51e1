import type { DrivenOptions, Environment, HostDriver } from '../../runtime/index.ts';
import type { Payload } from '../payload.ts';

/** What differs between agents that speak the Agent Client Protocol. */
export interface AcpAgent {
  /** Of the host in the registry. */
  name: string;
  /** As a person types it. */
  program: string;
  /** For people. */
  title: string;
  reports: HostDriver['reports'];
  /** How it is started. `folder` is the session's own and is removed with it. Throws `bad_permissions`. */
  launch(options: DrivenOptions, folder: string): { args: string[]; env: Environment };
  /** The tool of a call, for people. */
  toolName(call: Payload): string;
  /** Whether a question is about a tool of Stepfast. Must not depend on what the model has written. */
  isOwn(question: Payload): boolean;
  /** The tokens that a turn has spent, from the answer to its prompt. */
  tokens(answer: Payload): number;
  /** The prompt that compacts the conversation. Absent: there is none. */
  compact?: string;
}
