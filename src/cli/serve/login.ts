import { createRemoteEngine } from '../../engine/index.ts';
import { printable } from '../../messages/index.ts';
import { renewMarks } from '../../runtime/index.ts';
import { findProject, keepLogin, plainToken, serverUrl, stateDirectory } from '../../workspace/index.ts';
import { readArgs } from '../args.ts';
import { exit, usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { paint } from '../paint.ts';
import { printJson } from '../perform.ts';
import { given, openRuntime, placeOptions } from '../run-options.ts';

export const options = { ...placeOptions, 'token-stdin': { type: 'boolean' } } as const;

const patienceMs = 15_000;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { min: 1, max: 1, what: 'address of a server' });
  const url = serverUrl(positionals[0] ?? '', 'The address');
  const asked = values['token-stdin'] ? await io.stdin.all() : await ask(url, io);
  if (asked === undefined) {
    io.stderr.write('Nothing was changed.\n');
    return exit.no;
  }
  const token = plainToken(asked.trim(), 'What was given');
  const who = await createRemoteEngine({ url, token, patienceMs, clock: io.now }).whoami();
  const project = findProject(io.cwd, given({ worktree: values.worktree, repoRoot: values['repo-root'] }));
  keepLogin(project.root, stateDirectory({ env: io.env, home: io.home }), { url, token });
  const notes = notesOn(url, io);
  if (notes.length === 0) {
    const { engine } = openRuntime(io, values);
    // Runs that were known before the last logout.
    await renewMarks(engine, project.directory).catch(() => {});
  }
  if (values.json) return printJson(io, { url, ...who, ...(notes.length > 0 ? { notes } : {}) }, exit.ok);
  const as = `${who.kind} '${printable(who.name)}'`;
  io.stdout.write(
    `${paint(io.stdout, 'green', 'logged in')} at ${url}: project '${printable(who.project)}', as the ${as}, who may ${who.scopes.join(', ')}\nNew runs of ${printable(project.root)} begin there. Runs that are files here stay files.\n`,
  );
  for (const note of notes) io.stderr.write(`${paint(io.stderr, 'yellow', 'note')}  ${printable(note)}\n`);
  return exit.ok;
}

async function ask(url: string, io: Io): Promise<string | undefined> {
  if (!io.stdin.terminal)
    throw usageError('This is no terminal to ask for a token at: pass it with --token-stdin.');
  io.stderr.write(`Token for ${url} (not shown): `);
  const token = await io.stdin.secret();
  io.stderr.write('\n');
  return token?.trim() === '' ? undefined : token;
}

function notesOn(url: string, { env }: Io): string[] {
  const { protocol, hostname } = new URL(url);
  const near = hostname === 'localhost' || hostname.startsWith('127.') || hostname === '[::1]';
  return [
    ...(protocol === 'http:' && !near ? ['the token travels unencrypted: give an https address'] : []),
    ...(env.STEPFAST_URL?.trim() ? ['STEPFAST_URL is set here, and wins over this login'] : []),
  ];
}
