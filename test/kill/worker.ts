/**
 * A process that works on a run and may be killed at any moment: `node worker.ts <json>`. It says on standard output
 * what it is going to send and what it was answered, each in one line, before it does anything else.
 */
import { randomBytes } from 'node:crypto';
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { createEngine, type Engine } from '../../src/engine/engine.ts';
import type { Command, Reply } from '../../src/machine/index.ts';
import { createFileStore, createNodeFiles, type Files } from '../../src/store/index.ts';
import { cpuTimer } from '../kit/cpu-time.ts';

export interface Job {
  directory: string;
  worker: number;
  /** Races every run that it is told on standard input, instead of working on one. */
  race: boolean;
  run: string;
  /** What the process before this one sent and was not answered. */
  open?: Sent;
  /** Makes its words its own. */
  life: number;
}

/** A run to race for, with the lock or as if it were never granted. */
export interface Race {
  run: string;
  locks: boolean;
}

export interface Sent {
  command: Command;
  key?: string;
}

/** `ms`: processor time since the process was ready to work. */
export type Line =
  | { type: 'sent'; sent: Sent }
  | { type: 'answered'; sent: Sent; reply: Reply; ms: number }
  | { type: 'won'; at: string; output: string }
  | { type: 'ended'; run: string }
  | { type: 'failed'; what: string };

const say = (line: Line): void => {
  writeSync(1, `${JSON.stringify(line)}\n`);
};

function openEngine({ directory }: Job, files: Files = createNodeFiles()): Engine {
  const nonce = (): string => randomBytes(6).toString('hex');
  const store = createFileStore({ directory, machine: 'kill', nonce, files });
  return createEngine({ store, newRun: () => 'never-1-new', hashOf: () => 'sha256:test' });
}

/** Status, advance, note and again, until the run has ended. */
async function work(job: Job): Promise<void> {
  const spent = cpuTimer();
  const engine = openEngine(job);
  const { run, worker, life } = job;
  const caller = () => ({ now: Date.now(), session: `w${worker}` });
  const send = async (sent: Sent): Promise<Reply> => {
    const { reply } = await engine.execute(run, sent.command, sent.key);
    say({ type: 'answered', sent, reply, ms: spent() });
    return reply;
  };
  let reply = await send({ command: { ...caller(), type: 'status' } });
  let open = job.open;
  for (let turn = 0; !('status' in reply && reply.status === 'complete'); turn += 1) {
    const sent = open ?? next(`${worker}-${life}-${turn}`, reply, caller(), turn);
    open = undefined;
    say({ type: 'sent', sent });
    reply = await send(sent);
  }
  say({ type: 'ended', run });
}

function next(words: string, { at }: Reply, caller: { now: number; session: string }, turn: number): Sent {
  if (turn % 3 === 2)
    return {
      key: `k${words}`,
      command: { ...caller, type: 'note', kind: 'reminder', text: words, key: words },
    };
  return {
    command:
      at === undefined ? { ...caller, type: 'status' } : { ...caller, type: 'advance', output: words, at },
  };
}

/** Advances whatever position it sees, as fast as it can, and says which ones it took. */
async function race(job: Job): Promise<void> {
  const files = createNodeFiles();
  const create: Files['create'] = (path, bytes) =>
    path.endsWith('lock') ? Promise.reject(new Error('no locks')) : files.create(path, bytes);
  const locked = openEngine(job, files);
  const lockless = openEngine(job, { ...files, create });
  const { worker } = job;
  for await (const line of createInterface({ input: process.stdin })) {
    // What raceWorkers sends.
    const { run, locks } = JSON.parse(line) as Race;
    const engine = locks ? locked : lockless;
    for (let turn = 0; ; turn += 1) {
      const caller = { now: Date.now(), session: `w${worker}` };
      const seen = (await engine.execute(run, { ...caller, type: 'status' })).reply;
      if ('status' in seen && seen.status === 'complete') break;
      const { at } = seen;
      if (at === undefined) continue;
      const output = `${run}-${worker}-${turn}`;
      const { reply } = await engine.execute(run, { ...caller, type: 'advance', output, at });
      if (!('code' in reply) && !reply.replayed) say({ type: 'won', at, output });
    }
    say({ type: 'ended', run });
  }
}

// The parent wrote it.
const job = JSON.parse(process.argv[2] ?? '{}') as Job;
try {
  await (job.race ? race(job) : work(job));
} catch (error) {
  say({ type: 'failed', what: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  process.exitCode = 1;
}
