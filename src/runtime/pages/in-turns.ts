import { setImmediate } from 'node:timers/promises';
import { redaction } from '../../context/index.ts';

const turnMs = 20;

/** Does work that yields now and then, in turns that leave time for the other requests of a server. */
export async function inTurns<T>(work: Generator<unknown, T>): Promise<T> {
  let began = performance.now();
  for (let step = work.next(); ; step = work.next()) {
    if (step.done) return step.value;
    if (performance.now() - began < turnMs) continue;
    await setImmediate();
    began = performance.now();
  }
}

export const withoutSecretsInTurns = <T>(value: T): Promise<T> => inTurns(redaction(value));
