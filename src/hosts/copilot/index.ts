export { copilot } from './copilot.ts';
export { pluginHooks, pluginManifest } from './plugin-files.ts';
