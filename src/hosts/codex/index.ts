export { codex } from './codex.ts';
