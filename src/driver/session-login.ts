import { randomUUID } from 'node:crypto';
import type { Environment } from '../runtime/index.ts';
import type { SessionReason } from './progress.ts';
import type { DriverContext } from './worker-context.ts';

const lifetimeSeconds = 24 * 60 * 60;

export interface SessionLogin {
  /** What follows the runner's name. */
  as: string;
  env: Environment;
}

/**
 * A runner's sessions have tokens of their own, so that what they do is theirs and not the runner's. All that work are
 * one principal, and each that reviews is another. Undefined where the driver is no runner.
 */
export async function sessionLogin(
  { runtime, run }: DriverContext,
  why: SessionReason,
): Promise<SessionLogin | undefined> {
  const { server } = runtime;
  if (!server || runtime.serverOf(run) === undefined || (await server.whoami()).kind !== 'runner')
    return undefined;
  const as = why === 'review' ? `review-${randomUUID().slice(0, 8)}` : 'work';
  const { token } = await server.makeToken(as, lifetimeSeconds);
  return { as, env: { STEPFAST_URL: server.url, STEPFAST_TOKEN: token } };
}
