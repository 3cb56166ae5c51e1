export {
  type Dialect,
  isRefusal,
  type Json,
  readDocument,
  type SettingsRefusal,
  sameJson,
} from './document.ts';
export { isLink, readSettingsFile, writeSettingsFile } from './file.ts';
export {
  type KeptFile,
  readLedger,
  remember,
  removeLedger,
  restored,
  writeLedger,
} from './ledger.ts';
export { type Added, type Entry, type Merged, merge } from './merge.ts';
export { entriesIn, isSameBut, withoutOurs } from './rewritten.ts';
export { settled } from './settled.ts';
export { unmerge } from './unmerge.ts';
