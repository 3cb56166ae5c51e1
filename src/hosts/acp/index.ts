export type { AcpAgent } from './agent.ts';
export { createAcpDriver } from './driver.ts';
export { tokensIn } from './updates.ts';
