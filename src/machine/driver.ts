import type { CommandOf } from '../schema/index.ts';
import { type Batch, defined } from './batch.ts';
import { outranks, ownerOf, sharesWork } from './ownership.ts';
import { type Refusal, refuse } from './refusal.ts';
import type { Driver } from './state.ts';

/** A driver renews its lease long before this; one that is gone on the same machine is replaced at once. */
export const driverLeaseMs = 5 * 60_000;

/** The driver that the run has at this time. */
export const liveDriver = ({ driver }: { driver?: Driver }, now: number): Driver | undefined =>
  driver && !driver.released && driver.expires > now ? driver : undefined;

/** A run has one driver at a time. Each one has its own epoch, and only the last may report merges. */
export function drive(batch: Batch, command: CommandOf<'drive'>): Refusal | undefined {
  const { change, process, branch } = command;
  const { driver } = batch.state;
  const expires = batch.now + driverLeaseMs;
  if (change === 'take') {
    const live = liveDriver(batch.state, batch.now);
    const owner = ownerOf(command);
    const gone =
      command.gone === live?.epoch &&
      live?.process.machine === process.machine &&
      sharesWork(live?.owner, owner);
    if (live && !gone && !outranks(owner, live.owner))
      return refuse('driver_held', { ...live.process, expires: live.expires });
    batch.emit('driver.taken', {
      epoch: (driver?.epoch ?? 0) + 1,
      process,
      expires,
      ...defined({ branch, owner }),
    });
    return undefined;
  }
  const stale = staleDriver(batch, command.epoch ?? 0);
  if (stale) return stale;
  const { epoch = 0 } = command;
  if (change === 'renew') batch.emit('driver.renewed', { epoch, expires });
  else batch.emit('driver.released', { epoch });
  return undefined;
}

/** Another driver has taken the run since. A lease that ran out without that is still the last one. */
export function staleDriver({ state, caller }: Batch, epoch: number): Refusal | undefined {
  const { driver } = state;
  const isMine = driver?.epoch === epoch && !driver.released && sharesWork(driver.owner, ownerOf(caller));
  return isMine ? undefined : refuse('stale_driver', { epoch });
}

export function pause(batch: Batch, { type, actor }: CommandOf<'pause' | 'unpause'>): undefined {
  const isPaused = batch.state.paused !== undefined;
  const by = actor?.name ?? 'person';
  if (type === 'pause' && !isPaused) batch.emit('run.paused', { by });
  if (type === 'unpause' && isPaused) batch.emit('run.unpaused', { by });
}
