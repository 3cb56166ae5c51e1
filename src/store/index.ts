export type { Branch } from './file/accept-lines.ts';
export {
  type Carried,
  type CarriedLine,
  encodeCarried,
  isBatch,
  parseCarried,
  type Relation,
  relate,
} from './file/run-history.ts';
export type { Checked, Problem } from './file/check-run.ts';
export type { Files, Holds } from './file/files.ts';
export { withExclusive } from './file/lock.ts';
export { isNetworkFileSystem } from './file/network-file-system.ts';
export { createNodeFiles } from './file/node-files.ts';
export { appendOwnFile, writeOwnFile } from './file/no-follow.ts';
export type { Repaired } from './file/repair.ts';
export { createFileStore, type FileStore, type FileStoreOptions } from './file/file-store.ts';
export { createFileTransfer, type FileTransfer, type Texts } from './file/transfer.ts';
export { describeText, digestOf, longTextBytes } from './long-text.ts';
export { createMemoryStore } from './memory-store.ts';
export { isNamed, isRunId } from './run-id.ts';
export { projectState } from './state-projection.ts';
export type { StateProjection } from './state-schema.ts';
export type { Entry, Loaded, Pinned, Repeated, RunInfo, Store, StoredEntry, Version } from './store.ts';
