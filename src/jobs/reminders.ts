import type { PgBoss } from 'pg-boss';
import type { State } from '../machine/index.ts';
import type { Database } from './database.ts';
import { enqueueDeliveries, enqueueReminders } from './dispatch.ts';
import type { Outcome } from './pump.ts';
import type { Reminder } from './queues.ts';
import { stillWaits } from './waits.ts';
import { waitingEvent, wanted } from './webhooks/filter.ts';

interface ReminderOptions {
  database: Database;
  boss: PgBoss;
  everyMs: number;
  /** Maximum number of reminders per wait. */
  times: number;
}

/** Notifies webhooks of a wait that is still open, and schedules the next reminder. */
export function createReminders({ database, boss, everyMs, times }: ReminderOptions) {
  return { remind };

  async function remind(reminder: Reminder): Promise<Outcome> {
    const { project, run, seq, of, since, count } = reminder;
    return await database.within(project, async (tx): Promise<Outcome> => {
      const [found] = await tx.rows<{ state: string }>(
        'select state from stepfast.runs where project = $1 and run = $2',
        [project, run],
      );
      // Written by the store.
      if (!found || !stillWaits(JSON.parse(found.state) as State, reminder)) return 'done';
      const webhooks = await tx.rows<{ id: string; events: string[] }>(
        'select id, events from stepfast.webhooks where project = $1 and disabled_at is null',
        [project],
      );
      const deliveries = webhooks
        .filter(({ events }) => wanted(events, [waitingEvent]).length > 0)
        .map(({ id }) => ({ project, webhook: id, run, seq, reminder: { of, since, count } }));
      await enqueueDeliveries(boss, tx, deliveries);
      if (count < times) await enqueueReminders(boss, tx, [{ ...reminder, count: count + 1 }], everyMs);
      return 'done';
    });
  }
}
