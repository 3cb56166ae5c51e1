/**
 * What each host costs: `npm run bench -- hosts`. Hooks relative to Node's own startup, in a project without a run and
 * with one; and tokens that an installation adds to the first request of a session without a run, in the real program.
 */
import { join } from 'node:path';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import type { HookInput } from '../../src/runtime/index.ts';
import { lastUser, reply } from '../../src/testing/index.ts';
import { hostDialects } from '../../test/kit/dialects/index.ts';
import type { SessionHost } from '../../test/kit/host-stage.ts';
import { sessionHosts } from '../../test/kit/session-hosts.ts';
import { stepfastIn } from '../../test/kit/stepfast-in.ts';
import { median, rounded, takeTurns } from '../figures.ts';
import { bareNode, createGround, createIdle } from './hook-ground.ts';

const rounds = 12;

export async function bench(): Promise<object> {
  using made = new DisposableStack();
  const nothing = made.use(createIdle());
  const dialects = hostDialects.filter(({ host }) => host.name !== 'template');
  const acts: Record<string, (round: number) => number> = { node: bareNode };
  for (const { host, payload } of dialects) {
    const { name } = host;
    const ground = made.use(await createGround('plain'));
    const fire = (mark: string, input: Partial<HookInput> & Pick<HookInput, 'kind'>) => {
      const sent = payload({ host: name, session: 'a', cwd: ground.root, ...input });
      return ground.fire(mark, sent.event, sent.payload, name);
    };
    acts[`${name} idle`] = () => nothing.fire(name);
    acts[`${name} start`] = (round) => {
      const about = { session: `s${round}`, source: 'startup', id: `${round}` } as const;
      const { ms, stdout } = fire('session_start', { kind: 'session_start', ...about });
      if (!stdout.includes(ground.run)) throw new Error(`${name} was not offered the run: ${stdout}`);
      return ms;
    };
    acts[`${name} tool`] = (round) => {
      const tool = { name: 'x', kind: 'write', path: join(ground.root, 'src/known.ts') } as const;
      return fire('after_tool-write', { kind: 'after_tool', id: `${1000 + round}`, tool }).ms;
    };
  }
  const times = await takeTurns(rounds, acts);
  const of = (act: string): number => rounded(median(times[act] ?? []) / median(times.node ?? []), 3);
  const figures = [];
  for (const { name } of dialects.map(({ host }) => host)) {
    const real = sessionHosts.find((each) => each.name === name);
    const tokens = real ? await addedTokens(real) : null;
    const [idle, start, tool] = [of(`${name} idle`), of(`${name} start`), of(`${name} tool`)];
    figures.push({ host: name, idle, start, tool, tokens });
  }
  console.table(figures);
  return {
    idleRatio: Math.max(...figures.map(({ idle }) => idle)),
    activeRatio: Math.max(...figures.flatMap(({ start, tool }) => [start, tool])),
    added: Math.max(...figures.map(({ tokens }) => tokens ?? 0)),
    figures,
  };
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
