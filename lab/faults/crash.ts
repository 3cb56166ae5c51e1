import { setTimeout as sleep } from 'node:timers/promises';
import { createGround } from './ground.ts';
import { type Outcome, playWorkflows, type SuiteOptions } from './suite.ts';

const everyMs = 2_000;
const killEveryMs = 3_000;

/** Stops PostgreSQL immediately every 2 s and kills one of two servers while agents work. */
export async function crash({ workflows, plant }: SuiteOptions): Promise<Outcome> {
  await using ground = await createGround({ plant });
  const { cluster, servers } = ground;
  return await playWorkflows(ground, { suite: 'crash', workflows, atOnce: 48 }, async (isOver) => {
    let databaseCrashes = 0;
    let serverKills = 0;
    const crashes = async (): Promise<void> => {
      for (await pause(everyMs); !isOver(); await pause(everyMs)) {
        await cluster.stop('immediate');
        databaseCrashes += 1;
        await cluster.start();
      }
    };
    const kills = async (): Promise<void> => {
      for (await pause(killEveryMs); !isOver(); await pause(killEveryMs)) {
        const server = servers[serverKills % servers.length];
        server?.kill();
        serverKills += 1;
        // The other server is killed only after this one is back.
        await server?.ready();
      }
    };
    await Promise.all([crashes(), kills()]);
    return { databaseCrashes, serverKills };

    async function pause(ms: number): Promise<void> {
      for (const end = performance.now() + ms; performance.now() < end && !isOver(); ) await sleep(50);
    }
  });
}
