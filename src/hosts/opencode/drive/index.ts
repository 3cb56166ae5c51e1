export { openCodeDriver } from './driver.ts';
