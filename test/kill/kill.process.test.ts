import { expect, test } from 'vitest';
import { killWorkers } from './kill.ts';
import { raceWorkers } from './race.ts';
import { killRunSteps } from './run-steps.ts';

test('[P6/5] processes that are killed and started again lose no answer, repeat nothing and come back', async () => {
  const report = await killWorkers({ kills: 10, workers: 3, steps: 40 });
  expect(report.findings).toEqual([]);
  expect(report.kills).toBeGreaterThanOrEqual(10);
  expect(report.answers).toBeGreaterThan(20);
  expect(report.loadsMs.length).toBeGreaterThan(0);
});

test('[P6/2] of the processes that race for a step exactly one wins', async () => {
  const report = await raceWorkers({ steps: 40, workers: 4 });
  expect(report).toEqual({ raceSteps: 40, doubleWinners: 0, wrongWinners: 0, failures: [] });
});

test('[L/run] a command whose process is killed is started again only if its step is idempotent, and the run ends', async () => {
  const report = await killRunSteps({ kills: 6, lanes: 3 });
  expect(report).toMatchObject({ startedTwice: 0, findings: [] });
  expect(report.runnerKills + report.workerKills).toBeGreaterThanOrEqual(6);
  expect(report.starts).toBeGreaterThanOrEqual(report.runs * 4);
});
