export { pluginHooks } from './plugin-hooks.ts';
export { template } from './template.ts';
