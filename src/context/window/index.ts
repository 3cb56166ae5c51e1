export type { Compaction, CompactionInfo, CompactionProblem } from './compaction.ts';
export {
  type ContextWindow,
  type ContextWindowOptions,
  createContextWindow,
  type WindowTokens,
} from './context-window.ts';
export type { ContentOf, PlainMessage, Role, TextMessage, WindowMessage } from './message.ts';
export { createPrepareStep, type PreparedStep, type PrepareStepOptions } from './prepare-step.ts';
export type { PinOptions } from './window-content.ts';
