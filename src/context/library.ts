/** `stepfast/context`: context management for custom agent loops. Reads no files and needs no other package. */
export { estimateTokens } from '../machine/index.ts';
export type { Artifact, ArtifactContent } from './artifacts/artifact.ts';
export {
  type Briefing,
  type BriefingSection,
  type BriefingSource,
  type Cap,
  compileBriefing,
  type PartName,
  type ReadingFile,
  type SectionName,
} from './briefing/index.ts';
export {
  type Compaction,
  type CompactionInfo,
  type CompactionProblem,
  type ContentOf,
  type ContextWindow,
  type ContextWindow as ContextManager,
  type ContextWindowOptions,
  createContextWindow,
  createPrepareStep,
  type PinOptions,
  type PlainMessage,
  type PlainMessage as Msg,
  type PreparedStep,
  type PrepareStepOptions,
  type Role,
  type TextMessage,
  type WindowMessage,
  type WindowTokens,
} from './window/index.ts';
