import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { postgresBinaries } from '../../../scripts/install-postgres.ts';
import { run as runCommand } from '../../../src/cli/run.ts';
import { createFakeIo } from '../../../src/testing/fake-io.ts';
import { freePort } from '../../kit/free-port.ts';
import { type Cluster, startCluster } from '../../kit/postgres.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/server.md'), 'utf8');
const quickStart = /^## Quick start\n[\s\S]*?(?=^## )/m.exec(page)?.[0] ?? '';
const workflow = /^```yaml\n([\s\S]*?)^```/m.exec(quickStart)?.[1] ?? '';
const main = join(import.meta.dirname, '../../../src/cli/main.ts');

let directory: string;
let cluster: Cluster;
let port: number;
let server: ChildProcess | undefined;

/** A database as the page asks for, whose owner is no superuser. */
async function setStage(bin: string | undefined): Promise<void> {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'stepfast-quick-')));
  cluster = await startCluster({ fsync: false, ...(bin === undefined ? {} : { bin }) });
  await cluster.query('postgres', 'create role stepfast login nosuperuser createrole');
  await cluster.createDatabase('stepfast');
  await cluster.query('postgres', 'alter database stepfast owner to stepfast');
  port = await freePort();
  const bins = join(directory, 'bin');
  mkdirSync(bins);
  writeFileSync(join(bins, 'stepfast'), `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`, {
    mode: 0o755,
  });
  mkdirSync(join(directory, 'tokens'));
}
afterEach(async () => {
  server?.kill('SIGTERM');
  if (server?.exitCode === null) await once(server, 'exit');
  server = undefined;
  await cluster?.dispose();
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
});

/** What stands for the reader's own: the database, the port. */
const asHere = (command: string): string =>
  command
    .replace('postgres://stepfast@db.example.com/stepfast', cluster.url('stepfast', 'stepfast'))
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
    ...(name === 'agent' ? { STEPFAST_SESSION: 'session-of-the-agent' } : {}),
  };
}

function checkout(name: string): string {
  const root = join(directory, name, 'shop');
  mkdirSync(join(root, '.stepfast/workflows'), { recursive: true });
  writeFileSync(join(root, '.stepfast/workflows/feature.yaml'), workflow);
  execFileSync('git', ['init', '-q', root], { env: environment(name) });
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

test.each([
  ['the PostgreSQL of the system', async () => undefined],
  ['PostgreSQL 18', postgresBinaries],
])('docs/server.md gets a team going as it says, on %s', async (_, binaries) => {
  await setStage(await binaries());
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
      : /^stepfast approve/.test(meant)
        ? await byPerson(meant.split(' ').slice(1), place, env)
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
async function byPerson(args: string[], cwd: string, env: Record<string, string>): Promise<string> {
  const { io, stdout, stderr } = createFakeIo({
    cwd,
    home: env.HOME ?? '',
    env,
    terminal: true,
    input: ['y'],
  });
  await runCommand(args, io);
  return `${stdout()}${stderr()}`;
}

async function served(command: string, cwd: string, env: Record<string, string>): Promise<string> {
  server = spawn('sh', ['-c', `exec ${command}`], { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] });
  let shown = '';
  server.stderr?.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
  });
  await expect.poll(() => shown, { timeout: 60_000 }).toContain('Listening on');
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
