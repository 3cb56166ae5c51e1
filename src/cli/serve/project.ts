import { readArgs } from '../args.ts';
import { exit, usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { printJson } from '../perform.ts';
import { databaseOptions, databaseUrl, loadPostgres, withDatabase } from './database.ts';

export const options = databaseOptions;

export const run = (args: readonly string[], io: Io): Promise<number> => withDatabase(() => act(args, io));

async function act(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { min: 1, max: 2, what: 'create or list' });
  const [what, name] = positionals;
  if (what !== 'create' && what !== 'list')
    throw usageError(`'${what?.slice(0, 40)}' is neither create nor list.`);
  const url = databaseUrl(values, io);
  const projects = (await loadPostgres()).createProjects(url);
  if (what === 'list') {
    if (name !== undefined) throw usageError(`'${name.slice(0, 40)}' is one argument too many.`);
    const all = await projects.list();
    if (values.json) return printJson(io, { projects: all.map((each) => each.name) }, exit.ok);
    if (all.length === 0)
      io.stderr.write('There is no project yet. Make one: stepfast project create <name>\n');
    io.stdout.write(all.map((each) => `${each.name}\n`).join(''));
    return exit.ok;
  }
  if (name === undefined) throw usageError('No name of a project is given.');
  const made = await projects.create(name);
  if (values.json) return printJson(io, { project: made.name }, exit.ok);
  io.stdout.write(
    `Made the project ${made.name}. Next: stepfast token create <name> --project ${made.name}\n`,
  );
  return exit.ok;
}
