export type { Branch } from './file/accept-lines.ts';
export type { RunCheck, RunProblem } from './file/check-run.ts';
export { createFileStore, type FileStore, type FileStoreOptions } from './file/file-store.ts';
export type { AppendCondition, Files } from './file/files.ts';
export { withExclusive } from './file/lock.ts';
export { isNetworkFileSystem } from './file/network-file-system.ts';
export { appendNoFollow, writeNoFollow } from './file/no-follow.ts';
export { createNodeFiles } from './file/node-files.ts';
export type { RepairResult } from './file/repair.ts';
export {
  compareHistories,
  encodeHistory,
  type HistoryLine,
  type HistoryRelation,
  isBatch,
  parseHistory,
  type RunHistory,
} from './file/run-history.ts';
export { createFileTransfer, type FileTransfer, type TextsByDigest } from './file/transfer.ts';
export { describeText, digestOf, longTextBytes } from './long-text.ts';
export { createMemoryStore } from './memory-store.ts';
export { isRunId, matchesRunName } from './run-id.ts';
export { projectState } from './state-projection.ts';
export type { StateProjection } from './state-schema.ts';
export type { Entry, Loaded, Pinned, Repeated, RunInfo, Store, StoredEntry, Version } from './store.ts';
