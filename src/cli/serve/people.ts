import { ago, printable } from '../../messages/index.ts';
import type { Member } from '../../store/postgres/index.ts';
import { readArgs } from '../args.ts';
import { exit, notFound, usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { printJson } from '../perform.ts';
import { table } from '../table.ts';
import { databaseOptions, databaseUrl, findProject, loadPostgres, withDatabase } from './database.ts';

export const options = { ...databaseOptions, project: { type: 'string' } } as const;

type Values = ReturnType<typeof readArgs<typeof options>>['values'];

export const run = (args: readonly string[], io: Io): Promise<number> => withDatabase(() => act(args, io));

async function act(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, {
    min: 1,
    max: 2,
    what: 'action (list or remove)',
  });
  const [what, name] = positionals;
  if (what !== 'list' && what !== 'remove')
    throw usageError(`Unknown action '${what?.slice(0, 40)}'. Use list or remove.`);
  if (what === 'list' && name !== undefined) throw usageError(`Unexpected argument '${name.slice(0, 40)}'.`);
  if (what === 'remove' && !name) throw usageError('Missing name of the person.');
  const url = databaseUrl(values, io);
  const project = await findProject(values.project, url);
  const members = (await loadPostgres()).createMembers(url);
  if (!name) return printList(io, values, { members: await members.list(project.id), project: project.name });
  if (!(await members.remove(project.id, name)))
    throw notFound(
      `Nobody named '${printable(name.slice(0, 80))}' found. Run: stepfast people list --project ${project.name}`,
    );
  if (values.json) return printJson(io, { removed: name }, exit.ok);
  io.stdout.write(
    `Removed ${printable(name)}: the passphrase is deleted and every token of that name is revoked. Servers reject them within two seconds.\n`,
  );
  return exit.ok;
}

function printList(io: Io, { json }: Values, { members, project }: { members: Member[]; project: string }) {
  const people = members.map(({ name, since }) => ({ name, since: new Date(since).toISOString() }));
  if (json) return printJson(io, { people }, exit.ok);
  if (members.length === 0)
    io.stderr.write(
      `Nobody has a passphrase yet. Invite a person: stepfast token create <name> --project ${project} --kind person\n`,
    );
  else {
    const rows = members.map(({ name, since }) => [printable(name), ago(since, io.now())]);
    io.stdout.write(table(['name', 'passphrase chosen'], rows, io));
  }
  return exit.ok;
}
