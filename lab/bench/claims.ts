/**
 * Agents that share the tasks of one run: `npm run bench -- claims [--rounds N] [--tasks N] [--measured N]`. Each agent
 * claims a task and advances it, over HTTP, with its own token. The last round plays a run to its end with 64 agents.
 */
import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import type { Definition } from '../../src/machine/index.ts';
import { median, quantile, rounded, row } from '../figures.ts';
import { type Connection, openConnection } from '../fleet/ground/connection.ts';
import { createTeam, type Team } from '../fleet/ground/team.ts';

const agentCounts = [1, 16, 64] as const;
const workflow: Definition = {
  name: 'fan',
  description: 'Tasks that many agents share',
  steps: [{ id: 'work', type: 'loop', loop: 'work', parallel: 64 }],
  loops: { work: [{ id: 'do', instructions: 'Do {task.title}: {task.description}' }] },
};

interface Measured {
  perSecond: number;
  p50: number;
  p99: number;
}

export async function bench(asked = options()): Promise<object> {
  await using team = await createTeam({ parent: asked.directory, servers: 2, server });
  const tokens = await team.tokens(64, 64);
  const ways = { 'one server': team.servers.slice(0, 1), 'either of two': team.servers };
  const taken = new Map<string, Measured[]>();
  await measure(team, tokens, { ports: ports(team.servers), agents: 16, ...asked });
  for (let round = 0; round < asked.rounds; round += 1)
    // In turn the other way round, so that what else the machine does counts for all.
    for (const [way, servers] of Object.entries(ways))
      for (const agents of round % 2 === 0 ? agentCounts : agentCounts.toReversed()) {
        const measured = await measure(team, tokens, { ports: ports(servers), agents, ...asked });
        const name = `${way} ${agents}`;
        taken.set(name, [...(taken.get(name) ?? []), measured]);
        console.error(
          `round ${round + 1}/${asked.rounds}, ${way}, ${agents} agents: ${measured.perSecond}/s`,
        );
      }
  console.log(`A run of ${asked.tasks} tasks; the first ${asked.measured} of them, claimed and advanced.`);
  console.log(row(['agents', 'tasks', 'p50', 'p99'], 32));
  for (const [name, all] of taken) {
    const of = (part: keyof Measured): number => rounded(median(all.map((each) => each[part])), 1);
    console.log(row([name, `${of('perSecond')}/s`, `${of('p50')} ms`, `${of('p99')} ms`], 32));
  }
  const ratio = (way: string, agents: number): number => {
    const alone = taken.get(`${way} 1`) ?? [];
    const ratios = (taken.get(`${way} ${agents}`) ?? []).map(
      ({ perSecond }, round) => (alone[round]?.perSecond ?? Number.NaN) / perSecond,
    );
    return rounded(median(ratios), 3);
  };
  const wrong = await playToEnd(team, tokens, asked.tasks);
  for (const each of wrong) console.error(each);
  return {
    tasks: asked.tasks,
    measured: asked.measured,
    rounds: asked.rounds,
    // The throughput of one agent divided by that of 16 and 64: below 1, more agents do more.
    oneTo16: ratio('one server', 16),
    oneTo64: ratio('one server', 64),
    oneTo16OnTwoServers: ratio('either of two', 16),
    oneTo64OnTwoServers: ratio('either of two', 64),
    wrong: wrong.length,
  };
}

const server = { args: ['--rate', '1000000'] };
const ports = (servers: Team['servers']): number[] => servers.map(({ port }) => port);

interface Work {
  ports: readonly number[];
  agents: number;
  tasks: number;
  measured: number;
}

async function measure(team: Team, tokens: readonly string[], work: Work): Promise<Measured> {
  const run = await begin(team, tokens, work.tasks);
  const times: number[] = [];
  let left = work.measured;
  const begun = performance.now();
  await Promise.all(
    Array.from({ length: work.agents }, async (_, index) => {
      using agent = openAgent(run, `a${index}`, tokens[index] ?? '', work.ports);
      for (; left > 0; ) {
        left -= 1;
        const from = performance.now();
        const at = await agent.claim();
        if (at === undefined) throw new Error(`agent ${index} got no task of ${run}`);
        await agent.advance(at);
        times.push(performance.now() - from);
      }
    }),
  );
  const seconds = (performance.now() - begun) / 1000;
  return {
    perSecond: rounded(work.measured / seconds, 1),
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
  };
}

/** What is lost, done twice or left after 64 agents on two servers have done every task. */
async function playToEnd(team: Team, tokens: readonly string[], tasks: number): Promise<string[]> {
  const run = await begin(team, tokens, tasks);
  const accepted = new Map<string, string[]>();
  const wrong: string[] = [];
  await Promise.all(
    Array.from({ length: 64 }, async (_, index) => {
      using agent = openAgent(run, `a${index}`, tokens[index] ?? '', ports(team.servers));
      for (let at = await agent.claim(); at !== undefined; at = await agent.claim()) {
        const words = await agent.advance(at);
        const task = at.split('/')[1] ?? at;
        accepted.set(task, [...(accepted.get(task) ?? []), words]);
      }
    }),
  );
  using agent = openAgent(run, 'auditor', tokens[0] ?? '', ports(team.servers));
  const { state, outputs } = await agent.history();
  if (state !== 'complete') wrong.push(`the run is ${state}`);
  if (accepted.size !== tasks) wrong.push(`${accepted.size} of ${tasks} tasks were done`);
  for (const [task, words] of accepted)
    if (words.length !== 1 || outputs.get(task)?.join() !== words.join())
      wrong.push(`task ${task}: accepted ${words.join()}, stored ${outputs.get(task)?.join()}`);
  return wrong;
}

let begun = 0;

async function begin(team: Team, [token = '']: readonly string[], tasks: number): Promise<string> {
  begun += 1;
  const run = `fan-20261118-${String(begun).padStart(8, '0')}`;
  const connection = openConnection({ port: team.servers[0]?.port ?? 0, token });
  const caller = { now: Date.now(), session: 'planner' };
  const once = { run, key: run };
  await post(connection, '/v1/runs', { definition: workflow, command: { ...caller, type: 'start' }, once });
  const list = Array.from({ length: tasks }, (_, index) => ({
    id: `task-${index}`,
    title: `Port module number ${index}`,
    description: 'Port it, run its tests, and say which of them were changed and why.',
  }));
  const command = { ...caller, type: 'setTasks', loop: 'work', tasks: list };
  await post(connection, `/v1/runs/${run}/commands`, { command, key: 'tasks' });
  connection.close();
  return run;
}

interface Agent extends Disposable {
  /** The handle of a task; undefined if no task is left. */
  claim(): Promise<string | undefined>;
  advance(at: string): Promise<string>;
  history(): Promise<{ state: string; outputs: Map<string, string[]> }>;
}

function openAgent(run: string, session: string, token: string, servers: readonly number[]): Agent {
  const lines = servers.map((port) => openConnection({ port, token }));
  let calls = 0;
  return { claim, advance, history, [Symbol.dispose]: close };

  function close(): void {
    for (const each of lines) each.close();
  }

  function line(): Connection {
    const chosen = lines[Math.floor(Math.random() * lines.length)];
    if (!chosen) throw new Error('an agent needs a server');
    return chosen;
  }

  function send(command: object): Promise<Told> {
    calls += 1;
    const sent = { command: { ...command, now: Date.now(), session }, key: `${session}-${calls}` };
    return post(line(), `/v1/runs/${run}/commands`, sent);
  }

  async function claim(): Promise<string | undefined> {
    const { reply } = await send({ type: 'claim', holder: session });
    return 'code' in reply ? undefined : reply.at;
  }

  async function advance(at: string): Promise<string> {
    const output = `${session} did ${at}`;
    const { reply, changed } = await send({ type: 'advance', output, at });
    if (!changed) throw new Error(`${at} was not accepted: ${JSON.stringify(reply).slice(0, 200)}`);
    return output;
  }

  async function history(): Promise<{ state: string; outputs: Map<string, string[]> }> {
    const outputs = new Map<string, string[]>();
    const { entries } = await get(line(), `/v1/runs/${run}/entries`);
    for (const { type, at, output } of entries.flatMap(({ events }) => events)) {
      const task = at?.split('/')[1];
      if (type === 'position.completed' && task !== undefined)
        outputs.set(task, [...(outputs.get(task) ?? []), String(output)]);
    }
    const { state } = await get(line(), `/v1/runs/${run}`);
    return { state: state.status, outputs };
  }
}

interface Told {
  reply: { code?: string; at?: string };
  changed: boolean;
}

/** What the bench reads of runs and their history. */
interface Found {
  entries: { events: { type: string; at?: string; output?: unknown }[] }[];
  state: { status: string };
}

async function post(connection: Connection, path: string, body: object): Promise<Told> {
  return JSON.parse(await call(connection, 'POST', path, JSON.stringify(body)));
}

const get = async (connection: Connection, path: string): Promise<Found> =>
  JSON.parse(await call(connection, 'GET', path));

/** A busy run is asked again, as clients do. */
async function call(connection: Connection, method: string, path: string, body?: string): Promise<string> {
  for (;;) {
    const answer = await connection.call(method, path, body);
    if (answer.status === 200) return answer.body;
    if (answer.status !== 503) throw new Error(`${path}: ${answer.status} ${answer.body.slice(0, 300)}`);
  }
}

function options(): { rounds: number; tasks: number; measured: number; directory: string } {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '9' },
      tasks: { type: 'string', default: '1000' },
      measured: { type: 'string', default: '96' },
      directory: { type: 'string', default: tmpdir() },
    },
    allowPositionals: true,
  });
  const { rounds, tasks, measured, directory } = values;
  return { rounds: Number(rounds), tasks: Number(tasks), measured: Number(measured), directory };
}
