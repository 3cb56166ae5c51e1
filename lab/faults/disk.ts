import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../../test/kit/postgres.ts';
import { createGround } from './ground.ts';
import { type Outcome, playWorkflows, type SuiteOptions } from './suite.ts';

const megabytes = 224;
const phaseMs = 2_000;

/** Whether a file system can be mounted in a private namespace. */
export function privateMounts(): boolean {
  const { status } = spawnSync('unshare', ['-m', 'sh', '-c', 'mount -t tmpfs -o size=1m none /mnt'], {
    stdio: 'ignore',
  });
  return status === 0;
}

/** Fills the database's disk repeatedly, so that neither tables nor the WAL can grow. Only in a private mount namespace. */
export async function disk({ workflows, plant }: SuiteOptions): Promise<Outcome> {
  const mounted = mkdtempSync(join(tmpdir(), 'stepfast-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'none', mounted]);
  try {
    await using ground = await createGround({
      plant,
      parent: mounted,
      settings: { max_wal_size: '32MB', min_wal_size: '32MB', shared_buffers: '16MB' },
    });
    return await playWorkflows(ground, { suite: 'disk', workflows, atOnce: 32 }, async (isOver) => {
      let full = 0;
      let restarts = 0;
      while (!isOver()) {
        const ballast = join(mounted, 'ballast');
        fillUp(ballast);
        full += 1;
        await sleep(phaseMs);
        rmSync(ballast);
        if (await broughtBack(ground.cluster)) restarts += 1;
        await sleep(phaseMs);
      }
      return { full, restarts };
    });
  } finally {
    execFileSync('umount', ['-l', mounted]);
    rmdirSync(mounted);
  }
}

/** Writes until the disk is full. */
function fillUp(path: string): void {
  const file = openSync(path, 'w');
  const piece = Buffer.alloc(256 * 1024);
  try {
    for (let left = statfsSync(path).blocks; left > 0; left -= 1) writeSync(file, piece);
  } catch {
    // The disk is full.
  } finally {
    closeSync(file);
  }
}

/** Restarts PostgreSQL if it exited, as a service manager does. Returns whether it did. */
async function broughtBack(cluster: Cluster): Promise<boolean> {
  for (let tries = 0; tries < 20; tries += 1) {
    try {
      await cluster.query('postgres', 'select 1');
      return false;
    } catch {
      await sleep(100);
    }
  }
  await cluster.stop('immediate');
  await cluster.start();
  return true;
}
