import { setTimeout as sleep } from 'node:timers/promises';
import type { Engine, Executed } from '../../src/engine/index.ts';
import { StepfastError } from '../../src/errors.ts';
import type { Command, Definition, Reply } from '../../src/machine/index.ts';

export const workflow: Definition = {
  name: 'faults',
  description: 'Every step is noted and done once',
  steps: [
    { id: 'plan', type: 'action', instructions: 'Plan it' },
    { id: 'build', type: 'ralph', n: 3, instructions: 'Build a part' },
    { id: 'check', type: 'action', instructions: 'Check it' },
  ],
};
/** Positions of the workflow; each is noted and completed. */
export const positions = 5;

export interface Driven {
  run: string;
  answers: { command: Command; key: string; reply: Reply }[];
  /** Calls that the engine gave up and the agent retried. */
  repeats: number;
  /** The longest call, including retries. */
  slowestMs: number;
  /** Why the agent did not finish. */
  problem?: string;
}

/** Runs one agent through its workflow despite all faults. `suite` is part of run ids and keys: suites share a database. */
export async function drive(engine: Engine, number: number, suite: string): Promise<Driven> {
  const session = `agent-${suite}-${number}`;
  const run = `faults-${suite}-${String(number).padStart(8, '0')}`;
  const driven: Driven = { run, answers: [], repeats: 0, slowestMs: 0 };

  const insisted = async (call: () => Promise<Executed>): Promise<Reply> => {
    const begun = performance.now();
    const { value, repeats } = await insist(call);
    driven.repeats += repeats;
    driven.slowestMs = Math.max(driven.slowestMs, performance.now() - begun);
    return value.reply;
  };
  const send = async (command: Command, key: string): Promise<Reply> => {
    const reply = await insisted(() => engine.execute(run, command, key));
    driven.answers.push({ command, key, reply });
    return reply;
  };

  try {
    const start = { type: 'start', now: Date.now(), session, summary: session } as const;
    const once = { run, key: `${suite}-begin-${number}` };
    let reply = await insisted(() => engine.begin(workflow, start, {}, once));
    for (let turn = 0; turn < positions; turn += 1) {
      const { at } = reply;
      if (at === undefined) throw new Error(`has no position: ${JSON.stringify(reply).slice(0, 300)}`);
      const words = `${session} turn ${turn}`;
      const caller = { now: Date.now(), session };
      const key = `${suite}-${number}-${turn}`;
      await send({ ...caller, type: 'note', kind: 'reminder', text: words }, `${key}-note`);
      reply = await send({ ...caller, type: 'advance', output: words, at }, `${key}-advance`);
    }
    if (!('status' in reply) || reply.status !== 'complete')
      throw new Error(`is not complete: ${JSON.stringify(reply).slice(0, 300)}`);
  } catch (error) {
    driven.problem = String(error);
  }
  return driven;
}

const passing = ['busy', 'store_failed', 'server_unreachable'];
/** How long an agent retries one call before it counts as failed. */
const patienceMs = 240_000;

/** Retries temporary errors; final errors pass through. */
export async function insist<T>(call: () => Promise<T>): Promise<{ value: T; repeats: number }> {
  const deadline = performance.now() + patienceMs;
  for (let repeats = 0; ; repeats += 1) {
    try {
      return { value: await call(), repeats };
    } catch (error) {
      const isPassing = error instanceof StepfastError && passing.includes(error.code);
      if (!isPassing || performance.now() > deadline) throw error;
      await sleep(100 + 200 * Math.random());
    }
  }
}
