import { ago, duration, printable } from '../../messages/index.ts';
import { scopes as allScopes, type Scope } from '../../schema/index.ts';
import { readArgs } from '../args.ts';
import { exit, notFound, usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { printJson } from '../perform.ts';
import { table } from '../table.ts';
import { databaseOptions, databaseUrl, loadPostgres, withDatabase } from './database.ts';

export const options = {
  ...databaseOptions,
  project: { type: 'string' },
  kind: { type: 'string' },
  scope: { type: 'string', multiple: true },
  expires: { type: 'string' },
} as const;

const words: Record<Scope, string> = {
  read: 'look at runs',
  write: 'begin runs and move them on',
  gates: 'report what gates said',
  decide: 'decide what a person decides',
  admin: 'remove runs',
};
const usual: Record<'agent' | 'person', readonly Scope[]> = {
  agent: ['read', 'write', 'gates'],
  person: ['read', 'write', 'gates', 'decide'],
};
const usualExpiry = '90d';

export const run = (args: readonly string[], io: Io): Promise<number> => withDatabase(() => act(args, io));

async function act(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { min: 1, max: 2, what: 'create, list or revoke' });
  const [what, name] = positionals;
  if (what !== 'create' && what !== 'list' && what !== 'revoke')
    throw usageError(`'${what?.slice(0, 40)}' is none of create, list and revoke.`);
  if (what === 'list' && name !== undefined)
    throw usageError(`'${name.slice(0, 40)}' is one argument too many.`);
  if (what !== 'list' && !name)
    throw usageError(`No ${what === 'create' ? 'name' : 'id'} of a token is given.`);
  if (!values.project) throw usageError('No project is given: --project <name>. See: stepfast project list');
  const wanted = what === 'create' ? asked(values, io) : undefined;
  const url = databaseUrl(values, io);
  const { createProjects, createTokens } = await loadPostgres();
  const project = await createProjects(url).named(values.project);
  if (!project)
    throw notFound(`There is no project '${values.project.slice(0, 80)}'. See: stepfast project list`);
  const tokens = createTokens(url);
  if (wanted) {
    const made = await tokens.create(project.id, { ...wanted, name: name ?? '' });
    return tellMade(io, values, { ...wanted, ...made, name: name ?? '', project: project.name });
  }
  if (what === 'list') return tellList(io, values, await tokens.list(project.id));
  const id = (name ?? '').replace(/^sf_([a-z0-9]+)_.*$/, '$1');
  if (!(await tokens.revoke(project.id, id)))
    throw notFound(
      `There is no token '${id.slice(0, 40)}' to revoke. See: stepfast token list --project ${project.name}`,
    );
  if (values.json) return printJson(io, { revoked: id }, exit.ok);
  io.stdout.write(`Revoked ${printable(id)}: servers refuse it within two seconds.\n`);
  return exit.ok;
}

interface Wanted {
  kind: 'agent' | 'person';
  scopes: Scope[];
  expiresAt?: number | undefined;
}

type Values = { [K in 'kind' | 'expires']?: string | undefined } & { scope?: string[] | undefined };

function asked({ kind = 'agent', scope, expires = usualExpiry }: Values, io: Io): Wanted {
  if (kind !== 'agent' && kind !== 'person')
    throw usageError(`--kind is agent or person, not '${kind.slice(0, 40)}'.`);
  const named = scope?.flatMap((each) => each.split(',')).map((each) => each.trim());
  const strange = named?.find((each) => !allScopes.some((known) => known === each));
  if (strange !== undefined)
    throw usageError(`'${strange.slice(0, 40)}' is no scope: ${allScopes.join(', ')}.`);
  const scopes = named ? allScopes.filter((each) => named.includes(each)) : [...usual[kind]];
  if (kind === 'agent' && scopes.includes('decide'))
    throw usageError("An agent's token cannot decide for a person: leave decide out, or say --kind person.");
  if (expires === 'never') return { kind, scopes };
  const ms = duration(expires);
  if (!ms)
    throw usageError(
      `--expires takes a time such as 30d, 12h or 2w, or never, not '${expires.slice(0, 40)}'.`,
    );
  return { kind, scopes, expiresAt: io.now() + ms };
}

function tellMade(
  io: Io,
  { json }: { json?: boolean | undefined },
  made: Wanted & { id: string; token: string; name: string; project: string },
): number {
  const { id, token, name, project, kind, scopes, expiresAt } = made;
  if (json) {
    // Not through what hides secrets: this is the one place that shows one.
    io.stdout.write(
      `${JSON.stringify({ id, token, name, project, kind, scopes, ...expiry(expiresAt) }, undefined, 2)}\n`,
    );
    return exit.ok;
  }
  io.stdout.write(`${token}\n`);
  const until = expiresAt === undefined ? 'until it is revoked' : `until ${day(expiresAt)}`;
  const who = kind === 'person' ? `the person ${printable(name)}` : `the agent ${printable(name)}`;
  io.stderr.write(
    `Shown this once; only its hash is kept. With it ${who} may, in ${project} and ${until}:\n${scopes
      .map((scope) => `  ${scope.padEnd(7)} ${words[scope]}\n`)
      .join('')}Revoke it: stepfast token revoke ${id} --project ${project}\n`,
  );
  return exit.ok;
}

interface Listed extends Omit<Wanted, 'scopes'> {
  id: string;
  name: string;
  scopes: readonly string[];
  createdAt: number;
  revokedAt?: number | undefined;
}

function tellList(io: Io, { json }: { json?: boolean | undefined }, all: readonly Listed[]): number {
  const shown = all.map(({ id, name, kind, scopes, createdAt, expiresAt, revokedAt }) => ({
    id,
    name,
    kind,
    scopes: [...scopes],
    created: new Date(createdAt).toISOString(),
    ...expiry(expiresAt),
    ...(revokedAt === undefined ? {} : { revoked: new Date(revokedAt).toISOString() }),
  }));
  if (json) return printJson(io, { tokens: shown }, exit.ok);
  if (all.length === 0) {
    io.stderr.write('There is no token yet. Make one: stepfast token create <name> --project <project>\n');
    return exit.ok;
  }
  const rows = all.map((each) => [
    each.id,
    printable(each.name),
    each.kind,
    ago(each.createdAt, io.now()),
    stateOf(each, io.now()),
    each.scopes.join(' '),
  ]);
  io.stdout.write(table(['id', 'name', 'kind', 'made', 'good', 'scopes'], rows, io));
  return exit.ok;
}

function stateOf({ expiresAt, revokedAt }: Listed, now: number): string {
  if (revokedAt !== undefined) return 'revoked';
  if (expiresAt === undefined) return 'until revoked';
  return expiresAt <= now ? 'expired' : `until ${day(expiresAt)}`;
}

const day = (time: number): string => new Date(time).toISOString().slice(0, 10);
const expiry = (time: number | undefined) =>
  time === undefined ? {} : { expires: new Date(time).toISOString() };
