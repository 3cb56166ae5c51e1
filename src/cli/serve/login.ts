import { commandName } from '../../command-name.ts';
import { createRemoteEngine, type RemoteEngine } from '../../engine/index.ts';
import { StepfastError } from '../../errors.ts';
import { printable } from '../../messages/index.ts';
import { renewMarks } from '../../runtime/index.ts';
import { findProject, keepLogin, plainToken, serverUrl, stateDirectory } from '../../workspace/index.ts';
import { readArgs } from '../args.ts';
import { personOnly } from '../caller.ts';
import { newPassphrase } from '../credential.ts';
import { exit, usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { paint } from '../paint.ts';
import { printJson } from '../perform.ts';
import { openRuntime, projectOptions } from '../run-options.ts';
import { personNote } from './person-note.ts';

export const options = { ...projectOptions, 'token-stdin': { type: 'boolean' } } as const;

const timeoutMs = 15_000;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { min: 1, max: 1, what: 'server URL' });
  const url = serverUrl(positionals[0] ?? '', 'The URL');
  const unencrypted = isUnencrypted(url) ? ['the token is sent unencrypted: use an https URL'] : [];
  // Before anything secret is typed.
  printNotes(unencrypted, io);
  const input = values['token-stdin'] ? await io.stdin.all() : await promptForToken(url, io);
  if (input === undefined) {
    io.stderr.write('Nothing was changed.\n');
    return exit.no;
  }
  const given = plainToken(input.trim(), 'The input');
  const server = connect(url, given, io);
  const first = await server.whoami();
  if (first.scopes.includes('decide'))
    throw new StepfastError(
      'person_only',
      "This token can decide, so it must not be stored on disk. Log in with an invitation or an agent's token.",
    );
  const isInvitation = first.scopes.includes('join');
  const token = isInvitation ? await join(server, io) : given;
  if (token === undefined) {
    io.stderr.write('No passphrase was given; the invitation still works.\n');
    return exit.no;
  }
  const who = isInvitation ? await connect(url, token, io).whoami() : first;
  const project = findProject(io.cwd, { worktree: values.worktree, repoRoot: values['repo-root'] });
  keepLogin(project.root, stateDirectory({ env: io.env, home: io.home }), { url, token });
  const notes = [
    ...(io.env.STEPFAST_URL?.trim() ? ['STEPFAST_URL is set and overrides this login'] : []),
    ...(who.kind === 'person' ? [personNote(who)] : []),
  ];
  if (notes.length === 0) {
    const { engine } = openRuntime(io, values);
    // Restores the marks of runs from before the last logout.
    await renewMarks(engine, project.directory).catch(() => {});
  }
  const all = [...unencrypted, ...notes];
  if (values.json) return printJson(io, { url, ...who, ...(all.length > 0 ? { notes: all } : {}) }, exit.ok);
  const name = printable(who.name);
  const as = isInvitation ? '' : ` as ${who.kind} '${name}',`;
  if (isInvitation) io.stdout.write(`Welcome, ${name}.\n`);
  io.stdout.write(
    `${paint(io.stdout, 'green', 'logged in')} to ${url}: project '${printable(who.project)}',${as} scopes ${who.scopes.join(', ')}\nNew runs of ${printable(project.root)} start on the server. Existing local runs stay local.\n`,
  );
  if (isInvitation)
    io.stdout.write(
      `Agents in this checkout work as '${name}'. When you decide something, you are asked for your passphrase.\n`,
    );
  printNotes(notes, io);
  return exit.ok;
}

function printNotes(notes: readonly string[], io: Io): void {
  for (const note of notes) io.stderr.write(`${paint(io.stderr, 'yellow', 'note')}  ${printable(note)}\n`);
}

const connect = (url: string, token: string, io: Io): RemoteEngine =>
  createRemoteEngine({ url, token, patienceMs: timeoutMs, clock: io.now });

/** Returns a token for the person's agents; undefined if the person gave up. */
async function join(server: RemoteEngine, io: Io): Promise<string | undefined> {
  const refused = personOnly(io, 'choose a passphrase', `${commandName()} login ${server.url}`);
  if (refused) throw new StepfastError(refused.code, `${refused.message} ${refused.next}`);
  const passphrase = await newPassphrase(io);
  return passphrase === undefined ? undefined : (await server.join(passphrase)).token;
}

async function promptForToken(url: string, io: Io): Promise<string | undefined> {
  if (!io.stdin.terminal) throw usageError('Not a terminal: pass the token with --token-stdin.');
  io.stderr.write(`Token or invitation for ${url} (not shown): `);
  const token = await io.stdin.secret();
  io.stderr.write('\n');
  return token?.trim() === '' ? undefined : token;
}

function isUnencrypted(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  const isLocal = hostname === 'localhost' || hostname.startsWith('127.') || hostname === '[::1]';
  return protocol === 'http:' && !isLocal;
}
