/**
 * What each host costs: `npm run bench -- hosts`. Hooks relative to Node's own startup, in a project without a run and
 * with one; tokens that an installation adds to the first request of a session without a run, in the real program; and
 * the lines of the host's folder.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import type { HookInput } from '../../src/runtime/index.ts';
import { lastUser, reply } from '../../src/testing/index.ts';
import { type HostDialect, hostDialects } from '../../test/kit/dialects/index.ts';
import type { SessionHost } from '../../test/kit/host-stage.ts';
import { sessionHosts } from '../../test/kit/session-hosts.ts';
import { stepfastIn } from '../../test/kit/stepfast-in.ts';
import { median } from '../figures.ts';
import { createGround, type Ground, shim } from './hook-ground.ts';

const rounds = 13;
const root = join(import.meta.dirname, '..', '..');

interface HostFigures {
  host: string;
  idle: number;
  start: number;
  tool: number;
  tokens: number | null;
  lines: number;
}

export async function bench(): Promise<object> {
  const dialects = hostDialects.filter(({ host }) => host.name !== 'template');
  const ratios = await measureHooks(dialects);
  const figures: HostFigures[] = [];
  for (const { host } of dialects) {
    const real = sessionHosts.find(({ name }) => name === host.name);
    const [idle = 0, start = 0, tool = 0] = ['idle', 'start', 'tool'].map(
      (what) => ratios.get(`${host.name} ${what}`) ?? 0,
    );
    const tokens = real ? await addedTokens(real) : null;
    figures.push({ host: host.name, idle, start, tool, tokens, lines: linesOf(host.name) });
  }
  console.table(figures);
  return {
    idleRatio: Math.max(...figures.map(({ idle }) => idle)),
    activeRatio: Math.max(...figures.flatMap(({ start, tool }) => [start, tool])),
    added: Math.max(...figures.map(({ tokens }) => tokens ?? 0)),
    figures,
  };
}

async function measureHooks(dialects: readonly HostDialect[]): Promise<Map<string, number>> {
  const times = new Map<string, number[]>();
  const empty = mkdtempSync(join(tmpdir(), 'stepfast-hosts-'));
  const grounds: Ground[] = [];
  try {
    spawnSync('git', ['init', '-q', empty]);
    const rows: [string, (round: number) => number][] = [];
    for (const dialect of dialects) {
      const ground = await createGround('plain');
      grounds.push(ground);
      rows.push(...rowsOf(dialect, ground, empty));
    }
    for (let round = 0; round < rounds; round += 1)
      for (const [name, fire] of rows) {
        const ms = fire(round);
        // The first round warms up caches.
        if (round > 0) times.set(name, [...(times.get(name) ?? []), ms]);
      }
  } finally {
    for (const ground of grounds) ground[Symbol.dispose]();
    rmSync(empty, { recursive: true, force: true, maxRetries: 5 });
  }
  const base = median(times.get('node') ?? []);
  return new Map([...times].map(([name, all]) => [name, Number((median(all) / base).toFixed(3))]));
}

function rowsOf(dialect: HostDialect, ground: Ground, empty: string): [string, (round: number) => number][] {
  const { name } = dialect.host;
  const env = { PATH: process.env.PATH, HOME: empty };
  const fire = (mark: string, input: Partial<HookInput> & Pick<HookInput, 'kind'>) => {
    const { event, payload } = dialect.payload({ host: name, session: 'a', cwd: ground.root, ...input });
    return ground.fire(mark, event, payload, name);
  };
  return [
    ['node', () => timed(() => spawnSync(process.execPath, ['-e', '0'], { env }))],
    [
      `${name} idle`,
      () =>
        timed(() =>
          spawnSync('/bin/sh', [shim, 'after_tool-write', name, 'x'], { cwd: empty, env, input: '{}' }),
        ),
    ],
    [
      `${name} start`,
      (round) => {
        const { ms, stdout } = fire('session_start', {
          kind: 'session_start',
          session: `s${round}`,
          source: 'startup',
          id: `${round}`,
        });
        if (!stdout.includes(ground.run)) throw new Error(`${name} was not offered the run: ${stdout}`);
        return ms;
      },
    ],
    [
      `${name} tool`,
      (round) =>
        fire('after_tool-write', {
          kind: 'after_tool',
          id: `${1000 + round}`,
          tool: { name: 'x', kind: 'write', path: join(ground.root, 'src', 'known.ts') },
        }).ms,
    ],
  ];
}

function timed(run: () => { status: number | null }): number {
  const started = performance.now();
  const { status } = run();
  if (status !== 0) throw new Error(`exited with ${status}`);
  return performance.now() - started;
}

/** The first request of a session, with and without the installation. */
async function addedTokens(host: SessionHost): Promise<number> {
  const stage = await host.prepare(host.settings);
  try {
    stage.model.always(lastUser(/hello/), reply.text('Hello.'));
    const bare = await first();
    const { code, stderr } = await stepfastIn(stage, 'init', '--yes', '--host', host.name);
    if (code !== 0) throw new Error(stderr);
    return (await first()) - bare;
  } finally {
    await stage.model[Symbol.asyncDispose]();
    stage.project[Symbol.dispose]();
  }

  async function first(): Promise<number> {
    const before = stage.model.requestsOf('main').length;
    const session = await host.open(stage);
    await session.send('hello');
    await session.end();
    const request = stage.model.requestsOf('main')[before];
    if (!request) throw new Error(`${host.name} sent no request`);
    return encode(JSON.stringify(request.body)).length;
  }
}

function linesOf(host: string): number {
  const folder = join(root, 'src', 'hosts', host);
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .reduce((sum, name) => sum + readFileSync(join(folder, name), 'utf8').split('\n').length - 1, 0);
}
