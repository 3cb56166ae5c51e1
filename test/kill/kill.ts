import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { createEngine, type Engine } from '../../src/engine/engine.ts';
import { type Reply, replay } from '../../src/machine/index.ts';
import { createFileStore } from '../../src/store/index.ts';
import { Dice } from '../properties/dice.ts';
import { auditAnswers, type Finding } from '../sim/ledger.ts';
import { buildWorker, startChild } from './child.ts';
import type { Job, Line, Sent } from './worker.ts';

export interface KillReport {
  kills: number;
  runs: number;
  answers: number;
  findings: Finding[];
  /** From the start of a process to its first answer. */
  slowestRecoveryMs: number;
  /** The parts of them that are not Node's own start. */
  loadsMs: number[];
}

/** On a machine that stands still at times the slowest says nothing. */
export const typical = (times: readonly number[]): number =>
  [...times].sort((one, other) => one - other)[Math.floor(times.length / 2)] ?? 0;

/** Kills workers at random moments, starts them again, and holds the runs against every answer that came through. */
export async function killWorkers({
  kills,
  workers = 4,
  steps = 120,
  seed = 1,
}: {
  kills: number;
  workers?: number;
  /** Of each run. */
  steps?: number;
  seed?: number;
}): Promise<KillReport> {
  const directory = mkdtempSync(join(tmpdir(), 'stepfast-kill-'));
  const runs = join(directory, 'runs');
  const script = await buildWorker(directory);
  const dice = new Dice(seed);
  const report: KillReport = {
    kills: 0,
    runs: 0,
    answers: 0,
    findings: [],
    slowestRecoveryMs: 0,
    loadsMs: [],
  };
  try {
    while (report.kills < kills) {
      report.runs += 1;
      const engine = openRuns(runs, `kill-1-r${report.runs}`, steps);
      await playRun({ script, directory: runs, engine, dice, workers, most: kills, report });
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  return report;
}

interface Play {
  script: string;
  directory: string;
  engine: RunMaker;
  dice: Dice;
  workers: number;
  most: number;
  report: KillReport;
}

/** One run: its workers are killed until it has ended. */
async function playRun({ script, directory, engine, dice, workers, most, report }: Play): Promise<void> {
  const run = await engine.begin();
  const answers: { sent: Sent; reply: Reply }[] = [];
  let lives = 0;
  await Promise.all(
    Array.from({ length: workers }, async (_, worker) => {
      let open: Sent | undefined;
      let ended = false;
      while (!ended) {
        lives += 1;
        const started = performance.now();
        let first = true;
        let answered = (): void => {};
        const alive = new Promise<void>((resolve) => {
          answered = resolve;
        });
        const job: Job = { directory, worker, race: false, run, life: lives, ...(open ? { open } : {}) };
        const child = startChild<Line>(script, [JSON.stringify(job)], (line) => {
          if (line.type === 'sent') open = line.sent;
          if (line.type === 'failed') report.findings.push({ kind: 'wrong', what: line.what });
          if (line.type === 'failed' || line.type === 'ended') ended = true;
          if (line.type !== 'answered') return;
          if (first) {
            report.slowestRecoveryMs = Math.max(report.slowestRecoveryMs, performance.now() - started);
            report.loadsMs.push(line.ms);
          }
          first = false;
          if (line.sent.command.type !== 'status') open = undefined;
          answers.push({ sent: line.sent, reply: line.reply });
          answered();
        });
        if (report.kills < most) {
          // Most deaths come while it works; some before it has said a word.
          if (!dice.one(8)) await Promise.race([alive, child.gone]);
          await Promise.race([sleep(dice.roll(dice.one(2) ? 60 : 400)), child.gone]);
          child.kill();
        }
        if (await child.gone) report.kills += 1;
        else if (!ended) {
          report.findings.push({ kind: 'wrong', what: `worker ${worker} ended by itself` });
          ended = true;
        }
      }
    }),
  );
  report.answers += answers.length;
  const entries = await engine.entries(run);
  const loaded = await engine.view(run);
  const events = entries.flatMap((entry) => entry.events);
  if (!loaded || !isDeepStrictEqual(replay(loaded.definition, null, events), loaded.state))
    report.findings.push({ kind: 'wrong', what: `a replay of ${run} gives what is loaded` });
  report.findings.push(
    ...auditAnswers(
      answers.map(({ sent, reply }, id) => ({ wish: { id, ...sent }, reply })),
      entries,
    ),
  );
}

interface RunMaker extends Pick<Engine, 'entries' | 'view'> {
  begin(): Promise<string>;
}

/** Runs of so many equal steps. */
export function openRuns(directory: string, run: string, n: number): RunMaker {
  const store = createFileStore({ directory, machine: 'kill', nonce: () => randomBytes(6).toString('hex') });
  const engine = createEngine({ store, newRun: () => run, hashOf: () => 'sha256:test' });
  const definition = {
    name: 'kill',
    description: 'Many equal steps',
    steps: [{ id: 'go', type: 'ralph' as const, n, instructions: 'Go on' }],
  };
  return {
    begin: async () =>
      (await engine.begin(definition, { type: 'start', now: Date.now(), session: 'w0' })).run,
    entries: engine.entries,
    view: engine.view,
  };
}
