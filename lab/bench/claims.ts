/**
 * Agents that share the tasks of one run: `npm run bench -- claims [--rounds N] [--tasks N] [--measured N]`. Each agent
 * claims a task and advances it, over HTTP, with its own token. At the end, 64 agents play a run to its end.
 */
import { tmpdir } from 'node:os';
import { createRemoteEngine, type Engine } from '../../src/engine/index.ts';
import type { Definition } from '../../src/machine/index.ts';
import { median, printTable, quantile, rounded } from '../figures.ts';
import { createTeam } from '../fleet/ground/team.ts';
import { options } from '../options.ts';

const counts = [1, 16, 64] as const;
const most = 64;
const workflow: Definition = {
  name: 'fan',
  description: 'Tasks that many agents share',
  steps: [{ id: 'work', type: 'loop', loop: 'work', parallel: most }],
  loops: { work: [{ id: 'do', instructions: 'Do {task.title}: {task.description}' }] },
};

interface Measured {
  perSecond: number;
  p50: number;
  p99: number;
}

export async function bench(): Promise<object> {
  const { rounds, tasks, measured } = options({ rounds: 9, tasks: 1000, measured: 96 });
  const server = { args: ['--rate', '1000000'] };
  await using team = await createTeam({ parent: tmpdir(), servers: 2, server });
  /** By server, then by agent. */
  const tokens = await team.tokens(most, most);
  const engineOf = (url: string, token: string) => createRemoteEngine({ url, token, patienceMs: 60_000 });
  const engines = team.servers.map(({ url }) => tokens.map((token) => engineOf(url, token)));
  const auditor = engineOf(team.servers[0]?.url ?? '', tokens[0] ?? '');
  let begun = 0;
  const ways = { 'one server': engines.slice(0, 1), 'either of two': engines };
  const taken: Record<string, Measured[]> = {};
  await measure(engines, 16);
  for (let round = 0; round < rounds; round += 1)
    // In turn the other way round, so that other load on the machine affects all.
    for (const [way, used] of Object.entries(ways))
      for (const agents of round % 2 === 0 ? counts : counts.toReversed()) {
        const name = `${way} ${agents}`;
        taken[name] = [...(taken[name] ?? []), await measure(used, agents)];
        console.error(`round ${round + 1}/${rounds}, ${name} agents: ${taken[name].at(-1)?.perSecond}/s`);
      }
  printTable(
    [
      ['agents', 'tasks/s', 'p50 ms', 'p99 ms'],
      ...Object.entries(taken).map(([name, all]) => [
        name,
        ...(['perSecond', 'p50', 'p99'] as const).map((part) =>
          rounded(median(all.map((each) => each[part])), 1),
        ),
      ]),
    ],
    32,
  );
  /** Below 1, more agents do more than one. */
  const ratio = (way: keyof typeof ways, agents: number): number => {
    const alone = taken[`${way} 1`] ?? [];
    const all = taken[`${way} ${agents}`] ?? [];
    return rounded(
      median(all.map(({ perSecond }, at) => (alone[at]?.perSecond ?? Number.NaN) / perSecond)),
      3,
    );
  };
  const wrong = await playToEnd();
  for (const each of wrong) console.error(each);
  return {
    ...{ tasks, measured, rounds, wrong: wrong.length },
    ...{ oneTo16: ratio('one server', 16), oneTo64: ratio('one server', 64) },
    oneTo16OnTwoServers: ratio('either of two', 16),
    oneTo64OnTwoServers: ratio('either of two', 64),
  };

  async function measure(used: readonly Engine[][], agents: number): Promise<Measured> {
    const run = await begin();
    const times: number[] = [];
    let left = measured;
    const from = performance.now();
    await Promise.all(
      Array.from({ length: agents }, async (_, index) => {
        const agent = createAgent(used, run, index);
        while (left > 0) {
          left -= 1;
          const start = performance.now();
          const at = await agent.claim();
          if (at === undefined) throw new Error(`agent ${index} got no task of ${run}`);
          await agent.advance(at);
          times.push(performance.now() - start);
        }
      }),
    );
    const perSecond = rounded(measured / ((performance.now() - from) / 1000), 1);
    return { perSecond, p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
  }

  /** What is lost, done twice or left after 64 agents on two servers have done every task. */
  async function playToEnd(): Promise<string[]> {
    const run = await begin();
    const accepted: string[] = [];
    await Promise.all(
      Array.from({ length: most }, async (_, index) => {
        const agent = createAgent(engines, run, index);
        for (let at = await agent.claim(); at !== undefined; at = await agent.claim())
          accepted.push(`${at.split('/')[1]}: ${await agent.advance(at)}`);
      }),
    );
    const events = (await auditor.entries(run)).flatMap((entry) => entry.events);
    const stored = events.flatMap((event) =>
      event.type === 'position.completed' ? [`${event.at.split('/')[1]}: ${event.output}`] : [],
    );
    const status = (await auditor.view(run))?.state.status;
    return [
      ...(status === 'complete' ? [] : [`the run is ${status}`]),
      ...(accepted.length === tasks ? [] : [`${accepted.length} of ${tasks} tasks were done`]),
      ...accepted.filter((words) => stored.filter((each) => each === words).length !== 1),
    ];
  }

  async function begin(): Promise<string> {
    begun += 1;
    const caller = { now: Date.now(), session: 'planner' };
    const once = { run: `fan-20261118-${String(begun).padStart(8, '0')}`, key: `fan ${begun}` };
    await auditor.begin(workflow, { ...caller, type: 'start' }, {}, once);
    const list = Array.from({ length: tasks }, (_, index) => ({
      id: `task-${index}`,
      title: `Port module number ${index}`,
      description: 'Port it, run its tests, and say which of them were changed and why.',
    }));
    await auditor.execute(once.run, { ...caller, type: 'setTasks', loop: 'work', tasks: list }, 'tasks');
    return once.run;
  }
}

/** Calls any of the servers, each time another one. */
function createAgent(engines: readonly Engine[][], run: string, index: number) {
  const session = `a${index}`;
  let calls = 0;
  const caller = () => ({ now: Date.now(), session });
  const send = async (command: Parameters<Engine['execute']>[1]) => {
    calls += 1;
    const engine = engines[Math.floor(Math.random() * engines.length)]?.[index];
    if (!engine) throw new Error('an agent needs a server');
    return await engine.execute(run, command, `${session}-${calls}`);
  };
  return {
    /** The handle of a task; undefined if no task is left. */
    async claim(): Promise<string | undefined> {
      const { reply } = await send({ ...caller(), type: 'claim', holder: session });
      return 'code' in reply ? undefined : reply.at;
    },
    async advance(at: string): Promise<string> {
      const output = `${session} did ${at}`;
      const { reply, changed } = await send({ ...caller(), type: 'advance', output, at });
      if (!changed) throw new Error(`${at} was not accepted: ${JSON.stringify(reply).slice(0, 200)}`);
      return output;
    },
  };
}
