import { readArgs } from '../args.ts';
import { exit, usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { printJson } from '../perform.ts';
import { databaseOptions, databaseUrl, loadPostgres, withDatabase } from './database.ts';

export const options = databaseOptions;

export const run = (args: readonly string[], io: Io): Promise<number> => withDatabase(() => act(args, io));

async function act(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { min: 1, max: 2, what: 'create or list' });
  const [action, name] = positionals;
  if (action !== 'create' && action !== 'list')
    throw usageError(`Unknown action '${action?.slice(0, 40)}'. Use create or list.`);
  const url = databaseUrl(values, io);
  const projects = (await loadPostgres()).createProjects(url);
  if (action === 'list') {
    if (name !== undefined) throw usageError(`Unexpected argument '${name.slice(0, 40)}'.`);
    const all = await projects.list();
    if (values.json) return printJson(io, { projects: all.map((each) => each.name) }, exit.ok);
    if (all.length === 0) io.stderr.write('No projects yet. Create one: stepfast project create <name>\n');
    io.stdout.write(all.map((each) => `${each.name}\n`).join(''));
    return exit.ok;
  }
  if (name === undefined) throw usageError('Missing project name.');
  const created = await projects.create(name);
  if (values.json) return printJson(io, { project: created.name }, exit.ok);
  io.stdout.write(
    `Created project ${created.name}. Next: stepfast token create <name> --project ${created.name}\n`,
  );
  return exit.ok;
}
