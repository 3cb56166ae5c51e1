export { type HookLogEntry, hookLogEntries } from './hook-log.ts';
export { hostProcess } from './host-process.ts';
export { lastKnownRun } from './last-known-run.ts';
export { runHook } from './run-hook.ts';
export { hooksFolder, watchTools } from './session-record.ts';
