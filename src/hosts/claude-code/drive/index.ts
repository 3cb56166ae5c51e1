export { claudeCodeDriver } from './driver.ts';
