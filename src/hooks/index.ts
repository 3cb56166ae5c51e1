export { readFacts } from './facts.ts';
export { type HookEvent, hookEvents } from './hook-log.ts';
export { hostProcess } from './host-process.ts';
export { runHook } from './run-hook.ts';
export { hooksFolder } from './session-record.ts';
