import { randomInt } from 'node:crypto';

/** The seed that was asked for; else a fixed one, or a new one each time where STEPFAST_RANDOM_SEEDS is 1. */
export function chosenSeed(
  asked: string | undefined,
  env: Readonly<NodeJS.ProcessEnv> = process.env,
): number {
  if (asked) return Number(asked);
  return env.STEPFAST_RANDOM_SEEDS === '1' ? randomInt(2 ** 31) : 1;
}
