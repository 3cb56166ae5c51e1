import { ago, duration, printable } from '../../messages/index.ts';
import { scopes as allScopes, type PrincipalKind, principalKinds, type Scope } from '../../schema/index.ts';
import { readArgs } from '../args.ts';
import { exit, notFound, usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { printJson } from '../perform.ts';
import { table } from '../table.ts';
import { databaseOptions, databaseUrl, findProject, loadPostgres, withDatabase } from './database.ts';

export const options = {
  ...databaseOptions,
  project: { type: 'string' },
  kind: { type: 'string' },
  scope: { type: 'string', multiple: true },
  expires: { type: 'string' },
  grace: { type: 'string' },
  agents: { type: 'string' },
} as const;

const scopeHelp: Record<Scope, string> = {
  read: 'read runs',
  write: 'start and advance runs',
  gates: 'report gate results',
  decide: 'make decisions that need a person',
  admin: 'delete runs',
  join: 'choose a passphrase, once',
};
const defaultScopes: Record<PrincipalKind, readonly Scope[]> = {
  agent: ['read', 'write', 'gates'],
  runner: ['read', 'write', 'gates'],
  admin: ['read', 'admin'],
  // An invitation: the person gets a token for agents' work with it, and decides with a passphrase.
  person: ['join'],
};
const defaultExpiry = '90d';
const invitationExpiry = '7d';
const defaultGrace = '24h';
const actions = ['create', 'list', 'rotate', 'revoke'] as const;
const known = 'create, list, rotate or revoke';
const maxAgents = 10_000;

export const run = (args: readonly string[], io: Io): Promise<number> => withDatabase(() => act(args, io));

async function act(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { min: 1, max: 2, what: `action (${known})` });
  const [what, given] = positionals;
  const name = given?.trim();
  if (!actions.some((action) => action === what))
    throw usageError(`Unknown action '${what?.slice(0, 40)}'. Use ${known}.`);
  if (what === 'list' && name !== undefined) throw usageError(`Unexpected argument '${name.slice(0, 40)}'.`);
  if (what !== 'list' && !name) throw usageError(`Missing token ${what === 'create' ? 'name' : 'id'}.`);
  if (what === 'create' && name && !isName(name))
    throw usageError('A token name has 1 to 64 printable characters.');
  const request = what === 'create' ? parseRequest(values, io) : undefined;
  const rotation = what === 'rotate' ? parseRotation(values, io) : undefined;
  const url = databaseUrl(values, io);
  const project = await findProject(values.project, url);
  const tokens = (await loadPostgres()).createTokens(url);
  if (request) {
    const created = await tokens.create(project.id, { ...request, name: name ?? '' });
    return printCreated(io, values, { ...request, ...created, name: name ?? '', project: project.name });
  }
  if (what === 'list') return printList(io, values, await tokens.list(project.id));
  const id = (name ?? '').replace(/^sf_([a-z0-9]+)_.*$/, '$1');
  const missing = () =>
    notFound(`Token '${id.slice(0, 40)}' not found. Run: stepfast token list --project ${project.name}`);
  if (rotation) {
    const rotated = await tokens.rotate(project.id, id, rotation);
    if (!rotated) throw missing();
    // Scopes that only a newer version knows are kept, and not described.
    const scopes = allScopes.filter((scope) => rotated.scopes.includes(scope));
    return printCreated(io, values, { ...rotated, scopes, project: project.name, replaces: id });
  }
  if (!(await tokens.revoke(project.id, id))) {
    const isRevoked = (await tokens.list(project.id)).some((each) => each.id === id);
    throw isRevoked ? notFound(`Token '${id}' is already revoked.`) : missing();
  }
  if (values.json) return printJson(io, { revoked: id }, exit.ok);
  io.stdout.write(`Revoked ${printable(id)}. Servers reject it within two seconds.\n`);
  return exit.ok;
}

/** Without control and invisible characters. */
const isName = (name: string): boolean => name.length <= 64 && printable(name) === name;

interface TokenRequest {
  kind: PrincipalKind;
  scopes: Scope[];
  expiresAt?: number | undefined;
  agents?: number | undefined;
}

type Values = { [K in 'kind' | 'expires' | 'grace' | 'agents']?: string | undefined } & {
  scope?: string[] | undefined;
};

function parseRequest({ kind: given = 'agent', scope, expires, agents }: Values, io: Io): TokenRequest {
  const kind = principalKinds.find((each) => each === given);
  if (!kind)
    throw usageError(`--kind must be one of ${principalKinds.join(', ')}, not '${given.slice(0, 40)}'.`);
  const named = scope?.flatMap((each) => each.split(',')).map((each) => each.trim());
  const unknown = named?.find((each) => !allScopes.some((known) => known === each));
  if (unknown !== undefined)
    throw usageError(`Unknown scope '${unknown.slice(0, 40)}'. Scopes: ${allScopes.join(', ')}.`);
  const scopes = named ? allScopes.filter((each) => named.includes(each)) : [...defaultScopes[kind]];
  if (kind === 'person' && named) throw usageError('An invitation has no scopes: leave --scope out.');
  const reserved = scopes.find((each) => kind !== 'person' && (each === 'decide' || each === 'join'));
  if (reserved)
    throw usageError(
      `The token of ${kind === 'runner' ? 'a' : 'an'} ${kind} cannot have the scope ${reserved}: remove it, or use --kind person.`,
    );
  const expiresAt = endOf(expires ?? (kind === 'person' ? invitationExpiry : defaultExpiry), io);
  const request: TokenRequest = { kind, scopes, agents: agentsIn(agents) };
  return expiresAt === 'never' ? request : { ...request, expiresAt };
}

function agentsIn(agents: string | undefined): number | undefined {
  const count = agents === undefined ? undefined : Number(agents);
  if (count !== undefined && !(Number.isInteger(count) && count >= 1 && count <= maxAgents))
    throw usageError(`--agents takes a number from 1 to ${maxAgents}, not '${agents?.slice(0, 40)}'.`);
  return count;
}

function parseRotation({ kind, scope, expires, grace = defaultGrace }: Values, io: Io) {
  if (kind !== undefined || scope !== undefined)
    throw usageError('A rotated token keeps its kind and scopes: create another one to change them.');
  const graceMs = grace === '0' ? 0 : duration(grace);
  if (graceMs === undefined)
    throw usageError(`--grace takes a duration such as 24h, or 0, not '${grace.slice(0, 40)}'.`);
  return {
    oldUntil: io.now() + graceMs,
    ...(expires === undefined ? {} : { expiresAt: endOf(expires, io) }),
  };
}

function endOf(expires: string, io: Io): number | 'never' {
  if (expires === 'never') return 'never';
  const ms = duration(expires);
  if (ms) return io.now() + ms;
  throw usageError(
    `--expires takes a duration such as 30d, 12h or 2w, or never, not '${expires.slice(0, 40)}'.`,
  );
}

function printCreated(
  io: Io,
  { json }: { json?: boolean | undefined },
  created: TokenRequest & { id: string; token: string; name: string; project: string } & Partial<Replaced>,
): number {
  const { id, token, name, project, kind, scopes, expiresAt, agents, replaces, oldUntil } = created;
  const old =
    replaces === undefined || oldUntil === undefined
      ? {}
      : { replaces: { id: replaces, ...expiry(oldUntil) } };
  if (json) {
    // Bypasses secret redaction: this is the only output that shows the token.
    io.stdout.write(
      `${JSON.stringify({ id, token, name, project, kind, scopes, agents, ...expiry(expiresAt), ...old }, undefined, 2)}\n`,
    );
    return exit.ok;
  }
  io.stdout.write(`${token}\n`);
  const isInvitation = scopes.includes('join');
  const until = expiresAt === undefined ? 'Never expires' : `Expires ${day(expiresAt)}`;
  const about = isInvitation
    ? `Save this invitation now: it is not shown again.\nAn invitation for ${printable(name)} to project ${project}. ${until}. It works once: ${printable(name)} runs stepfast login with it and chooses a passphrase.\n`
    : `Save this token now: it is not shown again.\nToken of ${kind} ${printable(name)} for project ${project}. ${until}. Scopes:\n${scopes
        .map((scope) => `  ${scope.padEnd(7)} ${scopeHelp[scope]}\n`)
        .join('')}`;
  io.stderr.write(about);
  io.stderr.write(`To revoke it: stepfast token revoke ${id} --project ${project}\n`);
  if (oldUntil !== undefined)
    io.stderr.write(`The old token ${replaces} works until ${new Date(oldUntil).toISOString()}.\n`);
  return exit.ok;
}

/** The token that a new one replaces. */
interface Replaced {
  replaces: string;
  oldUntil: number;
}

interface Listed extends Omit<TokenRequest, 'scopes'> {
  id: string;
  name: string;
  scopes: readonly string[];
  createdAt: number;
  revokedAt?: number | undefined;
  usedAt?: number | undefined;
}

function printList(io: Io, { json }: { json?: boolean | undefined }, all: readonly Listed[]): number {
  const shown = all.map(({ id, name, kind, scopes, createdAt, expiresAt, revokedAt, usedAt, agents }) => ({
    id,
    name,
    kind,
    scopes: [...scopes],
    ...(agents === undefined ? {} : { agents }),
    created: new Date(createdAt).toISOString(),
    ...expiry(expiresAt),
    ...(revokedAt === undefined ? {} : { revoked: new Date(revokedAt).toISOString() }),
    ...(usedAt === undefined ? {} : { used: new Date(usedAt).toISOString() }),
  }));
  if (json) return printJson(io, { tokens: shown }, exit.ok);
  if (all.length === 0) {
    io.stderr.write('No tokens yet. Create one: stepfast token create <name> --project <project>\n');
    return exit.ok;
  }
  const rows = all.map((each) => [
    each.id,
    printable(each.name),
    each.kind,
    ago(each.createdAt, io.now()),
    each.usedAt === undefined ? 'never' : ago(each.usedAt, io.now()),
    stateOf(each, io.now()),
    each.scopes.join(' '),
  ]);
  io.stdout.write(table(['id', 'name', 'kind', 'created', 'used', 'expires', 'scopes'], rows, io));
  return exit.ok;
}

function stateOf({ expiresAt, revokedAt, scopes }: Listed, now: number): string {
  if (revokedAt !== undefined) return scopes.join() === 'join' ? 'used or revoked' : 'revoked';
  if (expiresAt === undefined) return 'never';
  return expiresAt <= now ? 'expired' : day(expiresAt);
}

const day = (time: number): string => new Date(time).toISOString().slice(0, 10);
const expiry = (time: number | undefined) =>
  time === undefined ? {} : { expires: new Date(time).toISOString() };
