import { commandName } from '../../command-name.ts';
import { commandsOf, grantsOf, hashGrants, listWorkflows, needsTrust } from '../../definition/index.ts';
import { StepfastError } from '../../errors.ts';
import { checkTool } from '../../hosts/index.ts';
import type { Definition } from '../../machine/index.ts';
import { ago, count, grantText, printable } from '../../messages/index.ts';
import type { LocalRuntime } from '../../runtime/index.ts';
import type { TrustRecord } from '../../workspace/index.ts';
import { readArgs } from '../args.ts';
import { personOnly } from '../caller.ts';
import { confirm, printDeclined } from '../confirm.ts';
import { exit, usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { isLive } from '../look/run-table.ts';
import { paint } from '../paint.ts';
import { printJson, printRefusal } from '../perform.ts';
import { shown } from '../project.ts';
import { openRuntime, projectOptions } from '../run-options.ts';
import { table } from '../table.ts';

export const options = {
  ...projectOptions,
  list: { type: 'boolean' },
  revoke: { type: 'boolean' },
} as const;

interface Trusted {
  name: string;
  hash: string;
  definition: Definition;
  from: string;
}

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { max: 1 });
  const runtime = openRuntime(io, values);
  if (values.list) return list(runtime, io, values);
  const [name] = positionals;
  const refused = personOnly(
    io,
    'trust a workflow',
    `${commandName()} trust${name === undefined ? '' : ` ${name}`}`,
  );
  if (refused) return printRefusal(refused, io, values);
  if (values.revoke) {
    if (name === undefined) throw usageError(`Name a workflow to revoke. See: ${commandName()} trust --list`);
    return await revoke(name, runtime, io, values);
  }
  if (name === undefined) return await trustAll(runtime, io, values);
  const found = await findTrusted(name, runtime, io);
  if (!runtime.trust.has(found.definition)) {
    if (!(await askToTrust(found, runtime, io, values))) return printDeclined(io, values);
  } else if (!values.json) {
    const why = !needsTrust(found.definition) ? 'runs no commands' : 'is trusted already';
    io.stdout.write(`'${printable(found.name)}' ${why}.\n`);
  }
  return values.json ? printJson(io, trustedJson(found), exit.ok) : exit.ok;
}

/** Asks about each workflow here that is not trusted. */
async function trustAll(
  runtime: LocalRuntime,
  io: Io,
  values: { json?: boolean | undefined },
): Promise<number> {
  const untrusted = await untrustedHere(runtime, io);
  if (untrusted.length === 0 && !values.json) io.stdout.write('All workflows here are trusted.\n');
  if (untrusted.length > 1)
    io.stderr.write(
      `Not trusted: ${untrusted.map(({ name }) => `'${printable(name)}'`).join(', ')}. You are asked about each.\n\n`,
    );
  const given: Trusted[] = [];
  for (const each of untrusted) if (await askToTrust(each, runtime, io, values)) given.push(each);
  const code = given.length < untrusted.length ? exit.no : exit.ok;
  const workflows = untrusted.map((each) => ({ ...trustedJson(each), trusted: given.includes(each) }));
  return values.json ? printJson(io, { workflows }, code) : code;
}

/** The workflows of the project and the user, and those of live runs, without the ones that are broken. */
async function untrustedHere(runtime: LocalRuntime, io: Io): Promise<Trusted[]> {
  const own = runtime.searchPath.filter(({ kind }) => kind !== 'bundled');
  const names = listWorkflows(own, checkTool).flatMap(({ name, base, shadowedBy, diagnostics }) =>
    base || shadowedBy !== undefined || diagnostics.some(({ severity }) => severity === 'error')
      ? []
      : [name],
  );
  const live = (await runtime.engine.runs()).filter(isLive).map(({ run }) => run);
  const all = await Promise.all([...names, ...live].map((name) => findTrusted(name, runtime, io)));
  const keyOf = ({ definition }: Trusted): string => `${definition.name} ${hashGrants(grantsOf(definition))}`;
  const byKey = new Map(all.reverse().map((each) => [keyOf(each), each]));
  return [...byKey.values()].reverse().filter(({ definition }) => !runtime.trust.has(definition));
}

/** Shows what the workflow runs, asks, and records the trust. */
async function askToTrust(
  { name, definition, hash, from }: Trusted,
  runtime: LocalRuntime,
  io: Io,
  values: { json?: boolean | undefined },
): Promise<boolean> {
  const changes = runtime.trust.changes(definition);
  const commands = count(commandsIn(definition).length, 'command');
  const since = changes ? ' Since you trusted it, + is new and - is gone:' : '';
  io.stderr.write(
    `'${printable(name)}' (${printable(from)}) runs ${commands} on this machine${since === '' ? ':' : `.${since}`}\n\n`,
  );
  const added = new Set(changes?.added.map(grantText));
  const line = (mark: string, text: string): void =>
    io.stderr.write(`${mark} ${paint(io.stderr, mark === '-' ? 'dim' : 'bold', printable(text))}\n`);
  for (const text of grantsOf(definition).map(grantText)) line(added.has(text) ? '+' : ' ', text);
  for (const text of changes?.removed.map(grantText) ?? []) line('-', text);
  io.stderr.write(`\n${paint(io.stderr, 'dim', hash)}\n`);
  if (!(await confirm(io, `\nTrust '${printable(name)}'?`))) return false;
  runtime.trust.give(definition, { now: io.now(), by: 'person' });
  if (!values.json)
    io.stdout.write(
      `'${printable(name)}' is trusted here. If its commands, the defaults of its inputs or what its agents may do change, you are asked again.\n`,
    );
  return true;
}

const commandsIn = (definition: Definition): string[] => [
  ...commandsOf(definition),
  ...[definition.worktree?.setup].filter((setup) => setup !== undefined),
];

const trustedJson = ({ name, hash, definition }: Trusted): object => ({
  workflow: name,
  hash,
  commands: commandsIn(definition),
  grants: grantsOf(definition),
  trusted: true,
});

/** A workflow by name or file, else the workflow of a run. Throws when the name is neither. */
async function findTrusted(name: string, runtime: LocalRuntime, io: Io): Promise<Trusted> {
  try {
    const { definition, hash, file } = runtime.resolve(name);
    return { name: definition.name, definition, hash, from: shown(file, io) };
  } catch (error) {
    const found = await runtime.chooseRun({ run: name });
    const view = 'code' in found ? undefined : await runtime.engine.view(found.run);
    if (!view) throw error;
    return {
      name: view.definition.name,
      definition: view.definition,
      hash: view.hash,
      from: `the run ${view.run}`,
    };
  }
}

async function revoke(
  name: string,
  runtime: LocalRuntime,
  io: Io,
  values: { json?: boolean | undefined },
): Promise<number> {
  // By name only what is trusted in this repository.
  const known = runtime.trust
    .list()
    .filter(
      ({ hash, workflow, root = runtime.project.root }) =>
        hash === name || (workflow === name && root === runtime.project.root),
    );
  if (known.length === 0)
    throw new StepfastError(
      'not_found',
      `'${printable(name)}' is not trusted. See: ${commandName()} trust --list`,
    );
  for (const record of known) runtime.trust.take(record);
  if (values.json) return printJson(io, { revoked: known.map(recordJson) }, exit.ok);
  io.stdout.write(`'${printable(name)}' is no longer trusted: ${count(known.length, 'version')} revoked.\n`);
  return exit.ok;
}

const recordJson = ({ now, ...record }: TrustRecord): object => ({
  ...record,
  trusted_at: new Date(now).toISOString(),
});

function list(runtime: LocalRuntime, io: Io, values: { json?: boolean | undefined }): number {
  const known = runtime.trust.list().sort((one, other) => other.now - one.now);
  if (values.json) return printJson(io, { trusted: known.map(recordJson) }, exit.ok);
  if (known.length === 0)
    io.stderr.write(
      `Only the bundled workflows are trusted. Trust another: ${commandName()} trust <workflow>\n`,
    );
  else {
    const rows = known.map(({ workflow, hash, now, by, root }) => [
      ['bold', printable(workflow)] as const,
      by === 'init' ? 'stepfast init' : 'a person',
      ago(now, io.now()),
      root === undefined ? 'every repository' : printable(root),
      hash,
    ]);
    io.stdout.write(table(['workflow', 'trusted by', 'when', 'where', 'hash'], rows, io));
  }
  return exit.ok;
}
