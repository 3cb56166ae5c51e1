import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildWorker, startChild } from './child.ts';
import { openRuns } from './kill.ts';
import type { Job, Line } from './worker.ts';

export interface RaceReport {
  raceSteps: number;
  doubleWinners: number;
  /** Steps without a winner, or whose winner is not the one in the journal. */
  wrongWinners: number;
  failures: string[];
}

const stepsOfRun = 100;

/** Many processes advance the same positions, without locks and with; each must be won by exactly one. */
export async function raceWorkers({
  steps,
  workers = 16,
}: {
  steps: number;
  workers?: number;
}): Promise<RaceReport> {
  const directory = mkdtempSync(join(tmpdir(), 'stepfast-race-'));
  const script = await buildWorker(directory);
  const runs = join(directory, 'runs');
  const report: RaceReport = { raceSteps: 0, doubleWinners: 0, wrongWinners: 0, failures: [] };
  const wins = new Map<string, string[]>();
  let ended = (): void => {};
  const children = Array.from({ length: workers }, (_, worker) =>
    startChild<Line>(script, [JSON.stringify(jobOf(runs, worker))], (line) => {
      if (line.type === 'won') wins.set(line.at, [...(wins.get(line.at) ?? []), line.output]);
      if (line.type === 'failed') report.failures.push(line.what);
      if (line.type === 'failed' || line.type === 'ended') ended();
    }),
  );
  for (const { gone } of children) {
    void gone.then((killed) => {
      if (!killed) report.failures.push('a worker ended by itself');
      ended();
    });
  }
  try {
    for (let round = 1; report.raceSteps < steps && report.failures.length === 0; round += 1) {
      const locks = round % 2 === 0;
      const n = Math.min(stepsOfRun, Math.ceil(steps / 2), steps - report.raceSteps);
      const maker = openRuns(runs, `race-1-r${round}`, n);
      const run = await maker.begin();
      let left = children.length;
      await new Promise<void>((resolve) => {
        ended = () => {
          left -= 1;
          if (left === 0 || report.failures.length > 0) resolve();
        };
        for (const child of children) child.tell({ run, locks });
      });
      const events = (await maker.entries(run)).flatMap((entry) => entry.events);
      for (const event of events) {
        if (event.type !== 'position.completed') continue;
        report.raceSteps += 1;
        const winners = wins.get(event.at) ?? [];
        if (winners.length > 1) report.doubleWinners += 1;
        else if (winners[0] !== event.output) report.wrongWinners += 1;
      }
      wins.clear();
    }
  } finally {
    for (const child of children) child.kill();
    await Promise.all(children.map(({ gone }) => gone));
    rmSync(directory, { recursive: true, force: true });
  }
  return report;
}

const jobOf = (directory: string, worker: number): Job => ({
  directory,
  worker,
  race: true,
  run: '',
  life: 0,
});
