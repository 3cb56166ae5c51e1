import { createRemoteEngine } from '../../engine/index.ts';
import { printable } from '../../messages/index.ts';
import { renewMarks } from '../../runtime/index.ts';
import { findProject, keepLogin, plainToken, serverUrl, stateDirectory } from '../../workspace/index.ts';
import { readArgs } from '../args.ts';
import { exit, usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { paint } from '../paint.ts';
import { printJson } from '../perform.ts';
import { openRuntime, projectOptions } from '../run-options.ts';

export const options = { ...projectOptions, 'token-stdin': { type: 'boolean' } } as const;

const timeoutMs = 15_000;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { min: 1, max: 1, what: 'server URL' });
  const url = serverUrl(positionals[0] ?? '', 'The URL');
  const input = values['token-stdin'] ? await io.stdin.all() : await promptForToken(url, io);
  if (input === undefined) {
    io.stderr.write('Nothing was changed.\n');
    return exit.no;
  }
  const token = plainToken(input.trim(), 'The input');
  const who = await createRemoteEngine({ url, token, patienceMs: timeoutMs, clock: io.now }).whoami();
  const project = findProject(io.cwd, { worktree: values.worktree, repoRoot: values['repo-root'] });
  keepLogin(project.root, stateDirectory({ env: io.env, home: io.home }), { url, token });
  const notes = warningsFor(url, io);
  if (notes.length === 0) {
    const { engine } = openRuntime(io, values);
    // Restores the marks of runs from before the last logout.
    await renewMarks(engine, project.directory).catch(() => {});
  }
  if (values.json) return printJson(io, { url, ...who, ...(notes.length > 0 ? { notes } : {}) }, exit.ok);
  const as = `${who.kind} '${printable(who.name)}'`;
  io.stdout.write(
    `${paint(io.stdout, 'green', 'logged in')} to ${url}: project '${printable(who.project)}', as ${as}, scopes ${who.scopes.join(', ')}\nNew runs of ${printable(project.root)} start on the server. Existing local runs stay local.\n`,
  );
  for (const note of notes) io.stderr.write(`${paint(io.stderr, 'yellow', 'note')}  ${printable(note)}\n`);
  return exit.ok;
}

async function promptForToken(url: string, io: Io): Promise<string | undefined> {
  if (!io.stdin.terminal) throw usageError('Not a terminal: pass the token with --token-stdin.');
  io.stderr.write(`Token for ${url} (not shown): `);
  const token = await io.stdin.secret();
  io.stderr.write('\n');
  return token?.trim() === '' ? undefined : token;
}

function warningsFor(url: string, { env }: Io): string[] {
  const { protocol, hostname } = new URL(url);
  const isLocal = hostname === 'localhost' || hostname.startsWith('127.') || hostname === '[::1]';
  return [
    ...(protocol === 'http:' && !isLocal ? ['the token is sent unencrypted: use an https URL'] : []),
    ...(env.STEPFAST_URL?.trim() ? ['STEPFAST_URL is set and overrides this login'] : []),
  ];
}
