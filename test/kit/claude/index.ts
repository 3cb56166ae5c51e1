export { type ClaudeOptions, type Command, claudeCommand, configOf, type McpServer } from './command.ts';
export { createHookProbe, type HookInput, type HookProbe } from './hook-probe.ts';
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
} from './match.ts';
export { isolation, type Network } from './network.ts';
export { type Answer, nearlyFull, type Reply, type ReplyOptions, reply, type Usage } from './reply.ts';
export { contextOf, type ModelRequest, type RequestKind, toolsOf } from './request.ts';
export type { LoggedRequest, RequestLog } from './request-log.ts';
export { type ClaudeRun, createHome, type RunOptions, removeHome, runClaude } from './run.ts';
export { createScriptedModel, type ScriptedModel } from './scripted-model.ts';
export {
  type ClaudeSession,
  findTranscript,
  type SessionOptions,
  startClaude,
  type Turn,
} from './session.ts';
export type { StreamEvent } from './stream-event.ts';
export {
  createRandom,
  type Fact,
  type Facts,
  forgetsAll,
  keepsAll,
  keepsAtRates,
  measuredRates,
  type Summarise,
} from './summary.ts';
