import { createDice } from '../dice.ts';
import { createGround } from './ground.ts';
import { type Outcome, playWorkflows, type SuiteOptions } from './suite.ts';

/** Delays data and drops connections mid-message, between agents and servers and between servers and database. */
export async function network({ workflows, seed, plant }: SuiteOptions): Promise<Outcome> {
  const dice = createDice(seed);
  const agents = { delay: () => 20 + 130 * dice(), cuts: () => dice() < 0.02 };
  const database = { delay: () => 1 + 14 * dice(), cuts: () => dice() < 0.003 };
  await using ground = await createGround({ plant, network: { agents, database } });
  const { counts, findings } = await playWorkflows(
    ground,
    { suite: 'network', workflows, atOnce: 64 },
    async () => ({}),
  );
  return { counts: { ...counts, ...ground.cuts() }, findings };
}
