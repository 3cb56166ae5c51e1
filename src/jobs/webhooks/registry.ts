import { randomBytes } from 'node:crypto';
import { StepfastError } from '../../errors.ts';
import { type Database, openDatabase } from '../database.ts';
import { createBoss } from '../queues.ts';
import { isFilter } from './filter.ts';
import { type AllowedTargets, urlProblem } from './guard.ts';
import { newSecret } from './sign.ts';

export interface NewWebhook {
  url: string;
  /** `*`, `run.*`, `run.completed`, `approval.waiting`. */
  events: readonly string[];
}

export interface WebhookInfo {
  id: string;
  url: string;
  events: string[];
  createdAt: Date;
  failingSince?: Date;
  disabledAt?: Date;
  /** The error of the last failed attempt. */
  failure?: string;
  /** Deliveries in the dead-letter queue. */
  dead: number;
}

/** Manages a project's webhooks. Throws StepfastError `bad_webhook` or `no_webhook`. */
export interface Webhooks {
  /** Delivers events from now on. The secret is returned only here. */
  add(project: number, webhook: NewWebhook): Promise<{ id: string; secret: string }>;
  list(project: number): Promise<WebhookInfo[]>;
  /** Also removes its pending deliveries. */
  remove(project: number, id: string): Promise<void>;
  /** Enables the webhook and retries its dead deliveries. Returns how many. */
  redeliver(project: number, id: string): Promise<number>;
  close(): Promise<void>;
}

interface WebhooksOptions {
  url: string;
  allow?: Partial<AllowedTargets>;
  report?(error: unknown): void;
}

const maxFilters = 50;

export function createWebhooks(options: WebhooksOptions): Webhooks {
  const { url, report = () => undefined } = options;
  const allow: AllowedTargets = { http: false, privateAddresses: false, ...options.allow };
  const database = openDatabase({ url, connections: 2, report });
  return {
    add,
    list: (project) => list(database, project),
    remove,
    redeliver,
    close: () => database.close(),
  };

  async function add(project: number, webhook: NewWebhook): Promise<{ id: string; secret: string }> {
    validateWebhook(webhook, allow);
    const id = `wh_${randomBytes(9).toString('hex')}`;
    const secret = newSecret();
    await database.within(project, async (tx) => {
      const now = 'pg_current_xact_id()::text::bigint';
      // Without an enabled webhook, the cursor did not advance.
      await tx.rows(
        `insert into stepfast.dispatch (project, tx) values ($1, ${now})
         on conflict (project) do update set tx = excluded.tx where not exists
           (select from stepfast.webhooks w where w.project = $1 and w.disabled_at is null)`,
        [project],
      );
      await tx.rows(
        `insert into stepfast.webhooks (project, id, url, secret, events, since)
         values ($1, $2, $3, $4, $5, ${now})`,
        [project, id, webhook.url, secret, webhook.events],
      );
    });
    return { id, secret };
  }

  async function remove(project: number, id: string): Promise<void> {
    const removed = await database.within(project, async (tx) => {
      const rows = await tx.rows(
        'delete from stepfast.webhooks where project = $1 and id = $2 returning id',
        [project, id],
      );
      if (rows.length > 0)
        await tx.rows(
          `delete from stepfast_jobs.job where name in ('webhook', 'webhook-dead') and data @> $1::jsonb`,
          [JSON.stringify({ project, webhook: id })],
        );
      return rows.length > 0;
    });
    if (!removed) throw noWebhook(id);
  }

  async function redeliver(project: number, id: string): Promise<number> {
    const boss = createBoss(database, { report });
    await boss.start();
    try {
      const [found] = await database.within(project, (tx) =>
        tx.rows(
          `update stepfast.webhooks set disabled_at = null, failing_since = null
           where project = $1 and id = $2 returning id`,
          [project, id],
        ),
      );
      if (!found) throw noWebhook(id);
      const filter = { destination: 'webhook', data: { project, webhook: id }, createdBefore: new Date() };
      let total = 0;
      for (;;) {
        const moved = await boss.redrive('webhook-dead', filter);
        total += moved;
        if (moved === 0) return total;
      }
    } finally {
      await boss.stop({ graceful: false });
    }
  }
}

async function list(database: Database, project: number): Promise<WebhookInfo[]> {
  const rows = await database.within(project, (tx) =>
    tx.rows<{
      id: string;
      url: string;
      events: string[];
      created_at: Date;
      failing_since: Date | null;
      disabled_at: Date | null;
      failure: string | null;
      dead: number;
    }>(
      `select id, url, events, created_at, failing_since, disabled_at, failure,
         (select count(*)::int from stepfast_jobs.job j
          where j.name = 'webhook-dead' and j.data @> jsonb_build_object('project', w.project, 'webhook', w.id)) as dead
       from stepfast.webhooks w where project = $1 order by created_at, id`,
      [project],
    ),
  );
  return rows.map(({ id, url, events, created_at, failing_since, disabled_at, failure, dead }) => ({
    id,
    url,
    events,
    createdAt: created_at,
    ...(failing_since === null ? {} : { failingSince: failing_since }),
    ...(disabled_at === null ? {} : { disabledAt: disabled_at }),
    ...(failure === null ? {} : { failure }),
    dead,
  }));
}

function validateWebhook({ url, events }: NewWebhook, allow: AllowedTargets): void {
  const why = urlProblem(url, allow);
  if (why !== undefined)
    throw new StepfastError('bad_webhook', `'${url.slice(0, 200)}' ${why}. Use an https URL.`);
  const bad = events.find((filter) => !isFilter(filter));
  if (bad !== undefined)
    throw new StepfastError(
      'bad_webhook',
      `'${bad.slice(0, 80)}' is not an event filter. Use '*', 'run.*', 'run.completed' or 'approval.waiting'.`,
    );
  if (events.length === 0 || events.length > maxFilters)
    throw new StepfastError('bad_webhook', `A webhook needs 1 to ${maxFilters} event filters.`);
}

const noWebhook = (id: string): StepfastError =>
  new StepfastError('no_webhook', `Webhook '${id.slice(0, 80)}' not found. Run: stepfast webhook list`);
