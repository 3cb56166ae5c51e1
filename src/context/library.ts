/** `stepfast/context`: for people who own their loop. Nothing here reads files or needs another package. */
export { estimateTokens } from '../machine/index.ts';
export {
  type Compaction,
  type CompactionInfo,
  type CompactionProblem,
  type ContentOf,
  type ContextWindow,
  type ContextWindowOptions,
  createContextWindow,
  createPrepareStep,
  type PlainMessage,
  type PreparedStep,
  type PrepareStepOptions,
  type Role,
  type TextMessage,
  type WindowMessage,
  type WindowTokens,
} from './window/index.ts';
