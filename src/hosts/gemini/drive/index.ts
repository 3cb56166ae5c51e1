export { geminiDriver } from './driver.ts';
