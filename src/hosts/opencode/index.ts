export { openCode } from './opencode.ts';
