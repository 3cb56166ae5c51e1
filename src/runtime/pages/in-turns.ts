import { redaction } from '../../context/index.ts';
import { ownTurn } from '../../turn-for.ts';

const turnMs = 10;

/** Does work that yields now and then, in turns that leave time for the other requests of a server. */
export async function inTurns<T>(work: Generator<unknown, T>): Promise<T> {
  await ownTurn();
  let began = performance.now();
  for (let step = work.next(); ; step = work.next()) {
    if (step.done) return step.value;
    if (performance.now() - began < turnMs) continue;
    await ownTurn();
    began = performance.now();
  }
}

export const withoutSecretsInTurns = <T>(value: T): Promise<T> => inTurns(redaction(value));
