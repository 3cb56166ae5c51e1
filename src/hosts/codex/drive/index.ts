export { codexDriver } from './driver.ts';
