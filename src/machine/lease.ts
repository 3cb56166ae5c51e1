import type { Command, Lease } from '../schema/index.ts';
import { type Batch, defined } from './batch.ts';
import { reenterPosition } from './flow.ts';
import { byAgent } from './locate.ts';
import { ownerOf, sharesWork } from './ownership.ts';
import type { Cursor } from './state.ts';
import { commandIn, retryOf, workAt } from './steps.ts';

const leaseMs = 30 * 60_000;

export const createLease = ({ now, caller }: Batch, holder: string, epoch: number): Lease => ({
  holder,
  epoch,
  expires: now + leaseMs,
  ...defined({ owner: ownerOf(caller) }),
});

/** Whether another session may take the task over. A position that waits for a person never expires. */
export const isExpired = ({ lease, waiting, ...cursor }: Cursor, now: number): boolean =>
  lease !== undefined &&
  lease.expires <= now &&
  waiting === undefined &&
  // A command of the engine needs no holder.
  commandIn(cursor) === undefined;

/** Extends the lease. Nothing is written while more than half of it is left. */
export function renewLease(batch: Batch, cursor: Cursor): undefined {
  if (!cursor.lease || cursor.lease.expires - batch.now >= leaseMs / 2) return;
  batch.emit('lease.renewed', { at: batch.at(cursor), expires: batch.now + leaseMs });
}

/** Every call of the holder renews its leases. A caller without a session renews the lease of its handle. */
export function renewLeases(batch: Batch, command: Command): void {
  const at = 'at' in command ? command.at : undefined;
  const leaving = command.type === 'session' && command.event.type === 'ended';
  if (!byAgent(command) || leaving) return;
  for (const cursor of Object.values(batch.state.cursors)) {
    const holder = cursor.lease?.holder;
    const mine = command.session === undefined ? batch.at(cursor) === at : command.session === holder;
    if (mine && sharesWork(cursor.lease?.owner, ownerOf(command))) renewLease(batch, cursor);
  }
}

/**
 * Hands an expired task to a new holder. The new visit makes the former holder's handle stale, and a boundary that was
 * still open is asked of the new holder.
 */
export function takeOver(batch: Batch, cursor: Cursor, holder: string): undefined {
  const { reds, feedback, failure, receipts, boundary, checking } = cursor;
  const failures = cursor.failures + (retryOf(workAt(batch.definition, cursor)) ? reds : 0);
  if (checking) batch.emit('gates.interrupted', { id: checking.id, why: 'runner' });
  const context = boundary && boundary.state !== 'released' ? boundary.action : undefined;
  reenterPosition(batch, cursor, {
    why: 'reclaim',
    failures,
    lease: createLease(batch, holder, (cursor.lease?.epoch ?? 0) + 1),
    ...defined({ context, feedback, failure, receipts }),
  });
}
