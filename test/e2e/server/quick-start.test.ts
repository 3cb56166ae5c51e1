import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { run as runCommand } from '../../../src/cli/run.ts';
import { createFakeIo } from '../../../src/testing/fake-io.ts';
import { createDatabase, type OwnedDatabase } from '../../kit/database.ts';
import { freePort } from '../../kit/free-port.ts';
import { passphrase } from '../../kit/server/person.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/server.md'), 'utf8');
const quickStart = /^## Quick start\n[\s\S]*?(?=^## )/m.exec(page)?.[0] ?? '';
const workflow = /^```yaml\n([\s\S]*?)^```/m.exec(quickStart)?.[1] ?? '';
const main = join(import.meta.dirname, '../../../dist/cli.js');

let directory: string;
let database: OwnedDatabase;
let port: number;
let server: ChildProcess | undefined;

beforeAll(async () => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'stepfast-quick-')));
  database = await createDatabase('template0');
  port = await freePort();
  const bin = join(directory, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'stepfast'), `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`, {
    mode: 0o755,
  });
  mkdirSync(join(directory, 'tokens'));
});
afterAll(async () => {
  server?.kill('SIGTERM');
  if (server?.exitCode === null) await once(server, 'exit');
  await database?.[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
});

/** What stands for the reader's own: the database, the port. */
const asHere = (command: string): string =>
  command
    .replace('postgres://stepfast@db.example.com/stepfast', database.url)
    .replace('stepfast serve &', `stepfast serve --port ${port}`)
    .replaceAll(':7437', `:${port}`)
    .replaceAll(/(\w+\.token)/g, join(directory, 'tokens', '$1'));

function environment(name: string): Record<string, string> {
  const home = join(directory, name, 'home');
  mkdirSync(home, { recursive: true });
  return {
    PATH: `${join(directory, 'bin')}:${process.env.PATH}`,
    HOME: home,
    XDG_STATE_HOME: join(home, 'state'),
    LANG: 'C.UTF-8',
    STEPFAST_MACHINE: name,
  };
}

function checkout(name: string): string {
  const root = join(directory, name, 'shop');
  mkdirSync(join(root, '.stepfast/workflows'), { recursive: true });
  writeFileSync(join(root, '.stepfast/workflows/feature.yaml'), workflow);
  execFileSync('git', ['init', '-q', root], { env: environment(name) });
  // Nobody has the files of another.
  writeFileSync(join(root, `${name}.txt`), '');
  return root;
}

interface Step {
  on: string;
  command: string;
  output: string[];
}

const steps: Step[] = [...quickStart.matchAll(/^```console\n([\s\S]*?)^```/gm)].flatMap(([, block = '']) =>
  block
    .split(/^(?=\w+\$ )/m)
    .filter(Boolean)
    .map((each) => {
      const [first = '', ...output] = each.trimEnd().split('\n');
      const at = first.indexOf('$ ');
      return { on: first.slice(0, at), command: first.slice(at + 2), output };
    }),
);

test('S9: docs/server.md gets a team going as it says, with an owner that is no superuser', async () => {
  expect(steps.length).toBeGreaterThan(12);
  const exported: Record<string, string> = {};
  const places = new Map<string, string>();
  let run = '';
  for (const { on, command, output } of steps) {
    const place = places.get(on) ?? checkout(on);
    places.set(on, place);
    const [, name = '', value = ''] = /^export (\w+)=(.*)$/.exec(asHere(command)) ?? [];
    if (name !== '') {
      exported[name] = value;
      continue;
    }
    const env = { ...environment(on), ...(on === 'server' ? exported : {}) };
    const meant = asHere(command).replace('…', run);
    const shown = command.startsWith('stepfast serve')
      ? await served(meant, place, env)
      : /^stepfast (approve|publish|login \S+$)/.test(meant)
        ? await byPerson(on, meant.split(' ').slice(1), place, env)
        : inShell(meant, place, env);
    run = /\b(feature-\d{8}-\w+)/.exec(shown)?.[1] ?? run;
    const lines = shown.split('\n');
    let from = 0;
    for (const wanted of output) {
      const found = lines.findIndex((line, index) => index >= from && shownAs(asHere(wanted)).test(line));
      expect(found, `${command}\nshould print: ${wanted}\nprinted:\n${shown}`).not.toBe(-1);
      from = found + 1;
    }
  }
});

function inShell(command: string, cwd: string, env: Record<string, string>): string {
  const script = `{ ${command}; } 2>&1 || true`;
  // What goes into a file is not shown, what stands on stderr is.
  const apart = command.includes('>') ? `{ ${command}; } 2>"$0"; cat "$0"` : script;
  return execFileSync('sh', ['-c', apart, join(directory, 'stderr')], { cwd, env, encoding: 'utf8' });
}

/** A person sits at a terminal and types what is asked for. */
async function byPerson(
  on: string,
  args: string[],
  cwd: string,
  env: Record<string, string>,
): Promise<string> {
  const invitation = (): string => readFileSync(join(directory, 'tokens', `${on}.token`), 'utf8').trim();
  const { io, stdout, stderr } = createFakeIo({
    cwd,
    home: env.HOME ?? '',
    env,
    terminal: true,
    input: args[0] === 'login' ? [invitation(), passphrase, passphrase] : ['y', passphrase],
  });
  const line = async (): Promise<string | undefined> => {
    const typed = await io.stdin.line();
    // As a terminal shows it.
    io.stderr.write(`${typed}\n`);
    return typed;
  };
  await runCommand(args, { ...io, stdin: { ...io.stdin, line } });
  // Questions come before the result.
  return `${stderr()}${stdout()}`;
}

async function served(command: string, cwd: string, env: Record<string, string>): Promise<string> {
  server = spawn('sh', ['-c', `exec ${command}`], { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] });
  let shown = '';
  server.stderr?.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
  });
  await expect.poll(() => shown).toContain('Listening on');
  return shown;
}

/** `…` stands for anything. */
const shownAs = (shown: string): RegExp =>
  new RegExp(
    `^${shown
      .split('…')
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*')}$`,
  );
