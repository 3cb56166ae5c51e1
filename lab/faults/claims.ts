import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Engine, Executed } from '../../src/engine/index.ts';
import type { Definition, Reply } from '../../src/machine/index.ts';
import type { Finding } from '../../test/sim/ledger.ts';
import { createDice } from '../dice.ts';
import { insist } from './drive.ts';
import { createGround } from './ground.ts';
import type { Outcome, SuiteOptions } from './suite.ts';

const agents = 64;
const deaths = 0.1;
/** Of the machine. */
const leaseMs = 30 * 60_000;
/** Speed factor of the servers' clock. */
const rate = 300;

const workflow: Definition = {
  name: 'claims',
  description: 'Tasks that many agents claim',
  steps: [{ id: 'work', type: 'loop', loop: 'work', parallel: agents }],
  loops: { work: [{ id: 'do', instructions: 'Do it' }] },
};

const run = 'faults-claims-00000001';

interface Tally {
  died: number;
  /** Returned after another agent had taken the lease. */
  fenced: number;
  /** Agents whose completion was accepted, by task. */
  accepted: Map<string, string[]>;
}

/** 64 agents share the tasks of one run; in one of ten claims the agent dies with its task. */
export async function claims({ tasks, seed, plant }: SuiteOptions): Promise<Outcome> {
  await using ground = await createGround({
    plant,
    env: {
      NODE_OPTIONS: `--import ${join(import.meta.dirname, 'fast-clock.ts')}`,
      ...{ FAULTS_CLOCK_FROM: String(Date.now()), FAULTS_CLOCK_RATE: String(rate) },
    },
  });
  const begun = performance.now();
  const { client, beside } = ground;
  const planner = { now: Date.now(), session: 'planner' };
  await client.begin(workflow, { ...planner, type: 'start' }, {}, { run, key: 'claims' });
  const list = Array.from({ length: tasks }, (_, index) => ({ id: `t${index}`, title: `Task ${index}` }));
  const { reply } = await client.execute(
    run,
    { ...planner, type: 'setTasks', loop: 'work', tasks: list },
    'list',
  );
  if ('code' in reply) throw new Error(`the tasks were refused: ${JSON.stringify(reply)}`);
  const tally: Tally = { died: 0, fenced: 0, accepted: new Map() };
  const problems: string[] = [];
  await Promise.all(
    Array.from({ length: agents }, async (_, index) => {
      try {
        for (let life = 0; await live(client, `a${index}-${life}`, createDice(seed, index, life), tally); )
          life += 1;
      } catch (error) {
        problems.push(`agent ${index} did not end well: ${error instanceof Error ? error.message : error}`);
      }
    }),
  );
  const findings: Finding[] = problems.map((what) => ({ kind: 'wrong', what }));
  const { done, more } = await audit(beside, tasks, tally);
  findings.push(...more);
  const seconds = Math.round((performance.now() - begun) / 1000);
  return { counts: { agents, tasks, done, died: tally.died, fenced: tally.fenced, seconds }, findings };
}

/** Works until the agent dies (returns true) or nothing is left to do. */
async function live(engine: Engine, session: string, dice: () => number, tally: Tally): Promise<boolean> {
  const caller = () => ({ now: Date.now(), session });
  const execute = async (call: Parameters<Engine['execute']>[1], key: string): Promise<Executed> =>
    (await insist(() => engine.execute(run, call, `${session}-${key}`))).value;
  const send = async (...call: Parameters<typeof execute>): Promise<Reply> => (await execute(...call)).reply;
  for (let turn = 0; ; turn += 1) {
    const claimed = await send({ ...caller(), type: 'claim', holder: session }, `claim-${turn}`);
    if ('status' in claimed && claimed.status !== 'running') return false;
    const { at } = claimed;
    if ('code' in claimed || at === undefined) {
      const seen = await send({ ...caller(), type: 'status' }, `status-${turn}`);
      if ('status' in seen && seen.status !== 'running') return false;
      await sleep(200 + 300 * dice());
      continue;
    }
    const words = `${session} turn ${turn}`;
    const advance = { ...caller(), type: 'advance', output: words, at } as const;
    if (dice() >= deaths) {
      note(await execute(advance, `advance-${turn}`), at, words, tally);
      continue;
    }
    tally.died += 1;
    const how = dice();
    // It dies with a call in flight, so the outcome is unknown.
    if (how < 0.3) void engine.execute(run, advance, `${session}-advance-${turn}`).catch(() => {});
    // It returns after its lease has expired.
    else if (how < 0.6) {
      await sleep((leaseMs / rate) * 1.3);
      note(await execute({ ...advance, ...caller() }, `advance-${turn}`), at, words, tally);
    }
    return true;
  }
}

function note({ reply, changed }: Executed, at: string, words: string, tally: Tally): void {
  if ('code' in reply) tally.fenced += 1;
  // A repeated call, or the run has already ended.
  if (!changed) return;
  const task = at.split('/')[1] ?? at;
  const known = tally.accepted.get(task);
  if (known) known.push(words);
  else tally.accepted.set(task, [words]);
}

async function audit(
  engine: Engine,
  tasks: number,
  { accepted }: Tally,
): Promise<{ done: number; more: Finding[] }> {
  const more: Finding[] = [];
  const events = (await engine.entries(run)).flatMap((entry) => entry.events);
  const ended = new Map<string, number>();
  const outputs = new Map<string, unknown>();
  for (const event of events) {
    if (event.type === 'task.ended') ended.set(event.task, (ended.get(event.task) ?? 0) + 1);
    if (event.type === 'position.completed') outputs.set(event.at.split('/')[1] ?? '', event.output);
  }
  for (const [task, times] of ended)
    if (times > 1) more.push({ kind: 'twice', what: `task ${task} ended ${times} times` });
  for (const [task, words] of accepted) {
    if (words.length > 1)
      more.push({ kind: 'twice', what: `task ${task} was done by ${words.join(' and ')}` });
    if (!words.some((each) => each === outputs.get(task)))
      more.push({
        kind: 'lost',
        what: `task ${task} was done by ${words[0]}, the run has ${outputs.get(task)}`,
      });
  }
  const status = (await engine.view(run))?.state.status;
  if (ended.size !== tasks || status !== 'complete')
    more.push({ kind: 'wrong', what: `${ended.size} of ${tasks} tasks ended, and the run is ${status}` });
  return { done: ended.size, more };
}
