import type { DeviceCode } from '../device-flow.ts';
import { StepfastError } from '../errors.ts';
import type { Issuer } from './jwt.ts';
import { problem } from './problem.ts';
import { createRateLimit } from './rate-limit.ts';

/** Signs a browser in with the issuer. The server remembers nothing of it: the browser holds the code. */
export interface DeviceSignIn {
  /** Throws a problem. */
  start(address: string): Promise<DeviceCode>;
  /** The token of a person who has agreed, or undefined. Throws a problem. */
  redeem(device: string, address: string): Promise<string | undefined>;
}

const perSecond = 1;
const burst = 20;

export function createDeviceSignIn({
  issuer,
  publicUrl,
  clock,
}: {
  issuer: Issuer | undefined;
  publicUrl: URL;
  clock(): number;
}): DeviceSignIn {
  const calls = createRateLimit({ perSecond, burst, clock });
  const prepared = async (address: string) => {
    if (!issuer?.client)
      throw problem('no_route', 'No issuer signs people in here.', { next: 'sign in with your passphrase' });
    if (!calls.take(address))
      throw problem('too_many_requests', 'Too many attempts to sign in.', { next: 'retry in a moment' });
    const { id: client, scope } = issuer.client;
    const flow = { issuer: issuer.issuer, client, scope, resource: publicUrl.origin };
    return { flow, ...(await import('../device-flow.ts')) };
  };
  return {
    async start(address) {
      const { flow, requestDeviceCode } = await prepared(address);
      return await told(() => requestDeviceCode(flow));
    },
    async redeem(device, address) {
      const { flow, redeemDeviceCode } = await prepared(address);
      const answer = await told(() => redeemDeviceCode(flow, device));
      return typeof answer === 'object' ? answer.token : undefined;
    },
  };
}

async function told<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof StepfastError)) throw error;
    throw problem('forbidden', error.message, { next: 'sign in again' });
  }
}
