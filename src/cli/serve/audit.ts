import { printable } from '../../messages/index.ts';
import type { AuditEntry } from '../../store/postgres/index.ts';
import { readArgs } from '../args.ts';
import { exit, usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { printWholeJson } from '../perform.ts';
import { table } from '../table.ts';
import { databaseOptions, databaseUrl, findProject, loadPostgres, withDatabase } from './database.ts';

export const options = {
  ...databaseOptions,
  project: { type: 'string' },
  limit: { type: 'string' },
} as const;

const defaultLimit = 100;
const maxLimit = 100_000;

export const run = (args: readonly string[], io: Io): Promise<number> => withDatabase(() => act(args, io));

async function act(args: readonly string[], io: Io): Promise<number> {
  const { values } = readArgs(args, options, { max: 0 });
  const limit = values.limit === undefined ? defaultLimit : Number(values.limit);
  if (!Number.isInteger(limit) || limit < 1 || limit > maxLimit)
    throw usageError(`--limit takes a number from 1 to ${maxLimit}.`);
  const url = databaseUrl(values, io);
  const { readAudit } = await loadPostgres();
  const project = values.project === undefined ? undefined : await findProject(values.project, url);
  const entries = await readAudit(url, { project, limit });
  if (values.json) return printWholeJson(io, { entries }, exit.ok);
  if (entries.length === 0) io.stderr.write('Nothing is recorded yet.\n');
  else io.stdout.write(table(['time', 'project', 'by', 'action', 'subject', ''], entries.map(row), io));
  return exit.ok;
}

const row = ({ at, project = '-', by, action, subject, details }: AuditEntry): string[] => [
  at.replace(/\.\d+Z$/, 'Z'),
  project,
  printable(`${by.kind} ${by.name}`),
  action,
  printable(subject),
  printable(
    Object.entries({
      ...details,
      // Not `token`: what follows that would be redacted.
      ...(by.token ? { with: by.token } : {}),
      ...(by.address ? { from: by.address } : {}),
    })
      .map(([name, value]) => `${name}=${value}`)
      .join(' '),
  ),
];
