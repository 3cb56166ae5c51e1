/** `stepfast/testing`: runs a workflow in the real host with a scripted model. */
import { createTestProject as createProject } from './project.ts';
import type { ProjectKit, TestFiles } from './project-kit.ts';

export type { EventType } from '../machine/index.ts';
export {
  type ClaudeProject,
  type ClaudeProjectOptions,
  createClaudeProject,
} from './claude/claude-project.ts';
export { type ClaudeCommand, type ClaudeOptions, claudeCommand, type McpServer } from './claude/command.ts';
export type { Isolated, Network } from './claude/network.ts';
export { type ClaudeRun, type RunOptions, runClaude } from './claude/run.ts';
export { type ClaudeSession, type SessionOptions, startClaude, type Turn } from './claude/session.ts';
export type { StreamEvent } from './claude/stream-event.ts';
export { lastContext, toolCall, toolResults } from './claude/tool-call.ts';
export type { FakeIoOptions } from './fake-io.ts';
export {
  allOf,
  lastUser,
  type Match,
  mainTurn,
  small,
  subagent,
  summariser,
  systemPrompt,
  withTool,
} from './model/match.ts';
export {
  type Answer,
  type Call,
  type ErrorReply,
  type MessageReply,
  nearlyFull,
  type Reply,
  type ReplyOptions,
  reply,
  type Usage,
} from './model/reply.ts';
export {
  type Block,
  contextOf,
  type Message,
  type MessagesBody,
  type ModelRequest,
  type RequestKind,
  type Tool,
  toolsOf,
} from './model/request.ts';
export type { LoggedRequest, RequestLog } from './model/request-log.ts';
export type { Choice, Script } from './model/script.ts';
export { createScriptedModel, type ScriptedModel } from './model/scripted-model.ts';
export {
  type Fact,
  type Facts,
  forgetsAll,
  keepsAll,
  keepsAtRates,
  type Summarise,
} from './model/summary.ts';
export type { CommandResult, ProjectKit, TestFiles, TestRun } from './project-kit.ts';

/**
 * Creates a temporary git repository with one commit.
 *
 * With STEPFAST_TEST_URL and STEPFAST_TEST_TOKEN in the environment, the project is logged in to that team server.
 *
 * @example
 * ```ts
 * import { createTestProject } from 'stepfast/testing';
 *
 * using project = createTestProject({
 *   '.stepfast/workflows/fix.yaml':
 *     'name: fix\ndescription: Fix a bug\nsteps: [{ id: fix, type: action, instructions: Fix it. }]\n',
 * });
 * await project.run(['start', 'fix']);
 * await project.run(['advance', 'Fixed.']);
 * console.log((await (await project.onlyRun()).state()).status);
 * ```
 */
export const createTestProject: (files?: TestFiles) => ProjectKit = createProject;
