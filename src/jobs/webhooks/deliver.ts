import type { Event, State } from '../../machine/index.ts';
import type { Database } from '../database.ts';
import type { Outcome } from '../pump.ts';
import { type Delivery, deliveryId } from '../queues.ts';
import { stillWaits } from '../waits.ts';
import { waitingEvent, wanted } from './filter.ts';
import { type PostOptions, post } from './post.ts';
import { signedHeaders } from './sign.ts';

export interface DelivererOptions extends PostOptions {
  database: Database;
  /** The public URL of the server. Without it, payloads have no link. */
  publicUrl: string | undefined;
  /** A webhook that keeps failing this long is disabled. */
  disableAfterMs: number;
  clock(): number;
}

interface Found {
  url: string;
  secret: string;
  events: string[];
  disabled: boolean;
  /** null if the run was removed. */
  seq: number | null;
  status: string | null;
  state: string | null;
  body: string | null;
  project: string;
}

/** The JSON payload: small, without any contents of the run. */
interface Payload {
  type: string;
  timestamp: string;
  data: Record<string, unknown>;
}

/** Makes one attempt. Reads everything again, and drops deliveries that no longer apply. */
export function createDeliverer(options: DelivererOptions) {
  const { database, publicUrl, disableAfterMs, clock } = options;
  return { deliver };

  async function deliver(delivery: Delivery): Promise<Outcome> {
    const { project, webhook } = delivery;
    const found = await find(delivery);
    if (!found || found.seq === null) return 'done';
    if (found.disabled) return { dead: 'The webhook is disabled' };
    const payload = payloadFor(delivery, found);
    if (!payload) return 'done';
    const body = JSON.stringify(payload);
    const id = `msg_${deliveryId(delivery)}`;
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'stepfast',
      ...signedHeaders(found.secret, { id, timestamp: Math.floor(clock() / 1000), body }),
    };
    const posted = await post({ url: found.url, headers, body }, options);
    if (posted.ok) {
      await clearFailure(project, webhook);
      return 'done';
    }
    if (posted.gone) await disable(project, webhook, 'The receiver returned 410 Gone');
    else await recordFailure(project, webhook, posted.why);
    return posted.gone ? { dead: posted.why } : { again: posted.why };
  }

  async function find({ project, webhook, run, seq }: Delivery): Promise<Found | undefined> {
    const [found] = await database.within(project, (tx) =>
      tx.rows<Found>(
        `select w.url, w.secret, w.events, w.disabled_at is not null as disabled,
           r.seq, r.status, r.state, e.body, stepfast.project_name_1() as project
         from stepfast.webhooks w
         left join stepfast.runs r on r.project = w.project and r.run = $3
         left join stepfast.events e
           on e.project = r.project and e.run = r.run and e.began = r.began and e.seq = $4
         where w.project = $1 and w.id = $2`,
        [project, webhook, run, seq],
      ),
    );
    return found;
  }

  function payloadFor({ run, seq, reminder }: Delivery, found: Found): Payload | undefined {
    const { events, status, state, body, project } = found;
    const link = publicUrl === undefined ? {} : { url: new URL(`/v1/runs/${run}`, publicUrl).href };
    const timestamp = new Date(clock()).toISOString();
    if (!reminder) {
      if (body === null) return undefined;
      // Written by the store.
      const eventTypes = (JSON.parse(body) as { events: Event[] }).events.map(({ type }) => type);
      const types = [...new Set(wanted(events, eventTypes))];
      const data = { project, run, seq, events: types, status, ...link };
      return types.length === 0 ? undefined : { type: 'run.changed', timestamp, data };
    }
    // Written by the store.
    if (state === null || !stillWaits(JSON.parse(state) as State, reminder)) return undefined;
    const since = new Date(reminder.since).toISOString();
    const data = { project, run, seq: found.seq, status, since, reminder: reminder.count, ...link };
    return { type: waitingEvent, timestamp, data };
  }

  async function clearFailure(project: number, webhook: string): Promise<void> {
    await database.within(project, (tx) =>
      tx.rows(
        `update stepfast.webhooks set failing_since = null, failure = null
         where project = $1 and id = $2 and failing_since is not null`,
        [project, webhook],
      ),
    );
  }

  async function recordFailure(project: number, webhook: string, why: string): Promise<void> {
    await database.within(project, (tx) =>
      tx.rows(
        `update stepfast.webhooks set
           failing_since = coalesce(failing_since, now()),
           failure = $3,
           disabled_at = case
             when failing_since < now() - make_interval(secs => $4) then coalesce(disabled_at, now())
             else disabled_at end
         where project = $1 and id = $2`,
        [project, webhook, why.slice(0, 200), disableAfterMs / 1000],
      ),
    );
  }

  async function disable(project: number, webhook: string, why: string): Promise<void> {
    await database.within(project, (tx) =>
      tx.rows(
        `update stepfast.webhooks set disabled_at = coalesce(disabled_at, now()), failure = $3
         where project = $1 and id = $2`,
        [project, webhook, why],
      ),
    );
  }
}
