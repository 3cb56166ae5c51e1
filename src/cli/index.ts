export type { Io } from './io.ts';
export { run } from './run.ts';
export { packageRoot } from './setup/copy-plugin.ts';
