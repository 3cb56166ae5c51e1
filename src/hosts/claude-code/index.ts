export { registrations } from './capabilities.ts';
export { claudeCode } from './claude-code.ts';
export { hookFor, pluginHooks } from './plugin-hooks.ts';
