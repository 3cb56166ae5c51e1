import { count } from '../../messages/index.ts';
import type { ProjectRecord, Projects } from '../../store/postgres/index.ts';
import { readArgs } from '../args.ts';
import { confirm, printDeclined } from '../confirm.ts';
import { exit, usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { printJson } from '../perform.ts';
import { databaseOptions, databaseUrl, findProject, loadPostgres, withDatabase } from './database.ts';

export const options = {
  ...databaseOptions,
  output: { type: 'string', short: 'o' },
  yes: { type: 'boolean', short: 'y' },
} as const;

type Values = ReturnType<typeof readArgs<typeof options>>['values'];

interface Call {
  projects: Projects;
  url: string;
  values: Values;
  io: Io;
}

const known = 'create, list, rename, publish-only, export or remove';

export const run = (args: readonly string[], io: Io): Promise<number> => withDatabase(() => act(args, io));

async function act(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { min: 1, max: 3, what: `action (${known})` });
  const [action = '', name, to] = positionals;
  const wants = { create: 1, list: 0, rename: 2, 'publish-only': 2, export: 1, remove: 1 };
  if (!Object.hasOwn(wants, action))
    throw usageError(`Unknown action '${action.slice(0, 40)}'. Use ${known}.`);
  const wanted = wants[action as keyof typeof wants];
  const extra = positionals[wanted + 1];
  if (extra !== undefined) throw usageError(`Unexpected argument '${extra.slice(0, 40)}'.`);
  if (positionals.length <= wanted)
    throw usageError(
      name === undefined ? 'Missing project name.' : `Missing ${missing[action] ?? 'argument'}.`,
    );
  const url = databaseUrl(values, io);
  const call: Call = { projects: (await loadPostgres()).createProjects(url), url, values, io };
  if (action === 'list') return await list(call);
  if (action === 'create') return await create(call, name ?? '');
  const project = await findProject(name, url);
  if (action === 'rename') return await rename(call, project, to ?? '');
  if (action === 'publish-only') return await publishOnly(call, project, to ?? '');
  return action === 'export' ? await exportTo(call, project) : await remove(call, project);
}

async function list({ projects, values, io }: Call): Promise<number> {
  const all = await projects.list();
  if (values.json) return printJson(io, { projects: all.map((each) => each.name) }, exit.ok);
  if (all.length === 0) io.stderr.write('No projects yet. Create one: stepfast project create <name>\n');
  io.stdout.write(all.map((each) => `${each.name}\n`).join(''));
  return exit.ok;
}

async function create({ projects, values, io }: Call, name: string): Promise<number> {
  const created = await projects.create(name);
  if (values.json) return printJson(io, { project: created.name }, exit.ok);
  io.stdout.write(
    `Created project ${created.name}. Next: stepfast token create <name> --project ${created.name}\n`,
  );
  return exit.ok;
}

async function rename({ projects, values, io }: Call, project: ProjectRecord, to: string): Promise<number> {
  await projects.rename(project, to);
  if (values.json) return printJson(io, { project: to, renamed: project.name }, exit.ok);
  io.stdout.write(`Renamed project ${project.name} to ${to}. Its tokens and runs stay as they are.\n`);
  return exit.ok;
}

const missing: Readonly<Record<string, string>> = { rename: 'new name', 'publish-only': 'on or off' };

async function publishOnly(
  { projects, values, io }: Call,
  project: ProjectRecord,
  to: string,
): Promise<number> {
  if (to !== 'on' && to !== 'off') throw usageError(`publish-only is on or off, not '${to.slice(0, 40)}'.`);
  await projects.publishOnly(project, to === 'on');
  if (values.json) return printJson(io, { project: project.name, publishOnly: to === 'on' }, exit.ok);
  const how = to === 'on' ? 'only after a person has published them' : 'without being published';
  io.stdout.write(`Workflows with commands now start in ${project.name} ${how}.\n`);
  return exit.ok;
}

async function exportTo({ projects, url, values, io }: Call, project: ProjectRecord): Promise<number> {
  const { exportProject } = await import('./export-project.ts');
  const directory = values.output ?? `${project.name}-export`;
  const runs = await exportProject({ url, project, directory, io });
  await projects.exported(project, runs);
  if (values.json) return printJson(io, { project: project.name, directory, runs }, exit.ok);
  io.stdout.write(
    `Exported ${count(runs, 'run')} of ${project.name} to ${directory}. Each file can be imported: stepfast import <file>\n`,
  );
  return exit.ok;
}

async function remove({ projects, values, io }: Call, project: ProjectRecord): Promise<number> {
  const question = `Remove project ${project.name} with all its runs, tokens and webhooks? This cannot be undone.`;
  if (!values.yes && !(await confirm(io, question))) return printDeclined(io, values);
  const runs = await projects.remove(project);
  if (values.json) return printJson(io, { removed: project.name, runs }, exit.ok);
  io.stdout.write(`Removed project ${project.name} with ${count(runs, 'run')}.\n`);
  return exit.ok;
}
