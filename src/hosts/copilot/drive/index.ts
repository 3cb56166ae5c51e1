export { copilotDriver } from './driver.ts';
