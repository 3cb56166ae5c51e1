import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { createGround } from './ground.ts';
import { type Outcome, playWorkflows, type SuiteOptions } from './suite.ts';

const connections = 48;

/** Repeatedly terminates the servers' connections and takes every connection of the database. */
export async function pool({ workflows, plant }: SuiteOptions): Promise<Outcome> {
  await using ground = await createGround({ plant, settings: { max_connections: connections } });
  const { cluster } = ground;
  return await playWorkflows(ground, { suite: 'pool', workflows, atOnce: 64 }, async (isOver) => {
    let droughts = 0;
    let taken = 0;
    while (!isOver()) {
      const greedy = await takeAll(cluster.url('team'));
      taken = Math.max(taken, greedy.length);
      droughts += 1;
      await sleep(1_500);
      await Promise.all(greedy.map((each) => each.end().catch(() => {})));
      await sleep(1_500);
    }
    return { droughts, taken };
  });
}

/** Nothing is left for others when some of a burst are sent away. */
async function takeAll(url: string): Promise<pg.Client[]> {
  const taken: pg.Client[] = [];
  for (let bursts = 0; bursts < 8; bursts += 1) {
    const opened = await Promise.all(Array.from({ length: 16 }, () => take(url)));
    const found = opened.filter((client) => client !== undefined);
    taken.push(...found);
    const others = `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'stepfast%'`;
    await found[0]?.query(others).catch(() => {});
    if (taken.length >= connections - 3 || (found.length === 0 && taken.length > 0)) break;
  }
  return taken;
}

async function take(url: string): Promise<pg.Client | undefined> {
  const client = new pg.Client({ connectionString: url, application_name: 'greedy' });
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch {
    return undefined;
  }
}
