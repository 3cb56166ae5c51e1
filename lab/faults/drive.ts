import { setTimeout as sleep } from 'node:timers/promises';
import type { Engine, Executed } from '../../src/engine/index.ts';
import { StepfastError } from '../../src/errors.ts';
import type { Command, Definition, Reply } from '../../src/machine/index.ts';

/** A planted bug that the audit must find: clients retry without a key, or commits are not durable. */
export type Plant = 'no-key' | 'async-commit' | undefined;

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

export interface Sent {
  command: Command;
  key?: string;
}

export interface Driven {
  run: string;
  answers: { sent: Sent; reply: Reply }[];
  /** Calls that the engine gave up and the agent retried. */
  repeats: number;
  /** The longest call, including retries. */
  slowestMs: number;
  /** Why the agent did not finish. */
  problem?: string;
}

export interface DriveOptions {
  /** How long an agent retries one call. */
  patienceMs: number;
  /** Part of run ids and keys, because suites share a database. */
  suite: string;
}

export const runName = (suite: string, number: number): string =>
  `faults-${suite}-${String(number).padStart(8, '0')}`;

/** Runs one agent through its workflow despite all faults. */
export async function drive(engine: Engine, number: number, options: DriveOptions): Promise<Driven> {
  const { suite, patienceMs } = options;
  const session = `agent-${suite}-${number}`;
  const driven: Driven = { run: runName(suite, number), answers: [], repeats: 0, slowestMs: 0 };
  const { run } = driven;

  const insisted = async (call: () => Promise<Executed>): Promise<Executed> => {
    const begun = performance.now();
    const { value, repeats } = await insist(call, patienceMs);
    driven.repeats += repeats;
    driven.slowestMs = Math.max(driven.slowestMs, performance.now() - begun);
    return value;
  };
  const send = async (sent: Sent): Promise<Reply> => {
    const { reply } = await insisted(() => engine.execute(run, sent.command, sent.key));
    driven.answers.push({ sent, reply });
    return reply;
  };

  try {
    const start = { type: 'start', now: Date.now(), session, summary: session } as const;
    const begun = await insisted(() =>
      engine.begin(workflow, start, {}, { run, key: `${suite}-begin-${number}` }),
    );
    let { reply } = begun;
    for (let turn = 0; turn < positions; turn += 1) {
      const { at } = reply;
      if (at === undefined) throw new Error(`has no position: ${JSON.stringify(reply).slice(0, 300)}`);
      const words = `${session} turn ${turn}`;
      const caller = { now: Date.now(), session };
      const key = `${suite}-${number}-${turn}`;
      await send({
        command: { ...caller, type: 'note', kind: 'reminder', text: words },
        key: `${key}-note`,
      });
      reply = await send({
        command: { ...caller, type: 'advance', output: words, at },
        key: `${key}-advance`,
      });
    }
    if (!('status' in reply) || reply.status !== 'complete')
      throw new Error(`is not complete: ${JSON.stringify(reply).slice(0, 300)}`);
  } catch (error) {
    driven.problem = error instanceof Error ? `${codeOf(error)}${error.message}` : String(error);
  }
  return driven;
}

/** Retries temporary errors; final errors pass through. */
export async function insist<T>(
  call: () => Promise<T>,
  patienceMs: number,
): Promise<{ value: T; repeats: number }> {
  const deadline = performance.now() + patienceMs;
  for (let repeats = 0; ; repeats += 1) {
    try {
      return { value: await call(), repeats };
    } catch (error) {
      if (!isPassing(error) || performance.now() > deadline) throw error;
      await sleep(100 + 200 * Math.random());
    }
  }
}

const passing = ['busy', 'store_failed', 'server_unreachable'];

const isPassing = (error: unknown): boolean => error instanceof StepfastError && passing.includes(error.code);

const codeOf = (error: Error): string => (error instanceof StepfastError ? `${error.code}: ` : '');
