export {
  type Dialect,
  isJsonObject,
  isRefusal,
  type Json,
  readDocument,
  type SettingsRefusal,
  sameJson,
} from './document.ts';
export {
  type Entry,
  entriesIn,
  ownersText,
  restored,
  settled,
  withEntries,
} from './entries.ts';
export { isLink, readSettingsFile, writeSettingsFile } from './file.ts';
export { type KeptFile, type Ledger, otherLedgers, readLedger, removeLedger, writeLedger } from './ledger.ts';
