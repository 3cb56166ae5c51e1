export { registrations } from './capabilities.ts';
export { claudeCode } from './claude-code.ts';
export { pluginHooks } from './plugin-hooks.ts';
