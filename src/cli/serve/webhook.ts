import type { WebhookInfo, Webhooks } from '../../jobs/index.ts';
import { count, printable } from '../../messages/index.ts';
import { nearest } from '../../suggest.ts';
import { readArgs } from '../args.ts';
import { exit, usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { paint } from '../paint.ts';
import { printJson, printWholeJson } from '../perform.ts';
import { type Cell, table } from '../table.ts';
import { databaseOptions, databaseUrl, findProject } from './database.ts';

export const options = {
  ...databaseOptions,
  project: { type: 'string' },
  events: { type: 'string', multiple: true },
  'allow-http': { type: 'boolean' },
  'allow-private': { type: 'boolean' },
} as const;

type Values = ReturnType<typeof readArgs<typeof options>>['values'];

const actions = { add, list, remove, redeliver } as const;

/** Every event of a project, including waiting approvals. */
const allEvents = ['*'];

export async function run(args: readonly string[], io: Io): Promise<number> {
  const what = 'action (add, list, remove or redeliver)';
  const { values, positionals } = readArgs(args, options, { min: 1, max: 2, what });
  const [name = '', subject] = positionals;
  if (!isAction(name)) throw usageError(unknownAction(name));
  if (name === 'list' ? subject !== undefined : subject === undefined)
    throw usageError(
      name === 'add' ? 'Missing webhook URL.' : 'Give one webhook id. Run: stepfast webhook list',
    );
  const url = databaseUrl(values, io);
  const { id: project } = await findProject(values.project, url);
  const { createWebhooks } = await import('../../jobs/index.ts');
  const allow = { http: values['allow-http'] ?? false, privateAddresses: values['allow-private'] ?? false };
  const webhooks = createWebhooks({ url, allow });
  try {
    return await actions[name]({ webhooks, project, subject: subject ?? '', values, io });
  } finally {
    await webhooks.close();
  }
}

interface Call {
  webhooks: Webhooks;
  project: number;
  subject: string;
  values: Values;
  io: Io;
}

async function add({ webhooks, project, subject, values, io }: Call): Promise<number> {
  const events = values.events?.flatMap((each) => each.split(',')).map((each) => each.trim()) ?? allEvents;
  const { id, secret } = await webhooks.add(project, { url: subject, events });
  if (values.json) return printWholeJson(io, { id, secret, events }, exit.ok);
  io.stdout.write(
    `${paint(io.stdout, 'green', 'added')} ${id} for events ${printable(events.join(', '))}\nSecret (not shown again): ${secret}\n`,
  );
  return exit.ok;
}

async function list({ webhooks, project, values, io }: Call): Promise<number> {
  const found = await webhooks.list(project);
  if (values.json) return printJson(io, { webhooks: found }, exit.ok);
  if (found.length === 0) io.stdout.write('No webhooks yet. Add one: stepfast webhook add <url>\n');
  else io.stdout.write(table(['id', 'events', 'dead', 'state', 'url'], found.map(row), io));
  return exit.ok;
}

async function remove({ webhooks, project, subject, values, io }: Call): Promise<number> {
  await webhooks.remove(project, subject);
  if (values.json) return printJson(io, { removed: subject }, exit.ok);
  io.stdout.write(`${paint(io.stdout, 'green', 'removed')} ${printable(subject)}\n`);
  return exit.ok;
}

async function redeliver({ webhooks, project, subject, values, io }: Call): Promise<number> {
  const deliveries = await webhooks.redeliver(project, subject);
  if (values.json) return printJson(io, { id: subject, deliveries }, exit.ok);
  const many = count(deliveries, 'delivery', 'deliveries');
  io.stdout.write(`${paint(io.stdout, 'green', 'enabled')} ${printable(subject)}, retrying ${many}\n`);
  return exit.ok;
}

const row = ({ id, url, events, dead, failure, failingSince, disabledAt }: WebhookInfo): Cell[] => {
  const reason = printable(failure ?? '');
  const state: Cell = disabledAt
    ? ['red', `disabled: ${reason}`]
    : failingSince
      ? ['yellow', `failing: ${reason}`]
      : 'ok';
  return [id, printable(events.join(',')), String(dead), state, printable(url)];
};

const isAction = (name: string): name is keyof typeof actions => Object.hasOwn(actions, name);

function unknownAction(name: string): string {
  const meant = nearest(name, Object.keys(actions));
  return `Unknown action '${name}'.${meant === undefined ? '' : ` Did you mean '${meant}'?`}`;
}
