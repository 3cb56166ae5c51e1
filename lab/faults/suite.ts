import type { Finding } from '../../test/sim/ledger.ts';
import { inParallel } from '../parallel.ts';
import { auditRuns, strayRuns } from './audit.ts';
import { drive } from './drive.ts';
import type { Ground, Plant } from './ground.ts';

export interface SuiteOptions {
  workflows: number;
  tasks: number;
  seed: number;
  plant: Plant;
}

/** Counts of one suite; a finding is a violated invariant. */
export interface Outcome {
  counts: Record<string, number>;
  findings: Finding[];
  /** Why the suite was skipped. */
  skipped?: string;
}

/** Agents run workflows while `trouble` injects faults; then the audit compares the database with their responses. */
export async function playWorkflows(
  ground: Ground,
  { suite, workflows, atOnce }: { suite: string; workflows: number; atOnce: number },
  trouble: (isOver: () => boolean) => Promise<Record<string, number>>,
): Promise<Outcome> {
  const begun = performance.now();
  let over = false;
  const troubled = trouble(() => over);
  let ended = 0;
  const told = (problem: string | undefined): void => {
    ended += 1;
    const every = Math.max(1, Math.round(workflows / 10));
    if (problem !== undefined || ended % every === 0)
      console.error(`  ${ended}/${workflows} ended ${problem ?? ''}`);
  };
  const [driven, counts] = await Promise.all([
    inParallel(workflows, atOnce, async (number) => {
      const one = await drive(ground.client, number, suite);
      told(one.problem);
      return one;
    }).finally(() => {
      over = true;
    }),
    troubled,
  ]);
  const seconds = (performance.now() - begun) / 1000;
  await ground.settled();
  const { steps, findings } = await auditRuns(ground.beside, driven);
  findings.push(...(await strayRuns(ground.beside, suite, driven)));
  const failed = ground.answered(500);
  if (failed > 0) findings.push({ kind: 'wrong', what: `${failed} answers were 500: see the servers' logs` });
  return {
    counts: {
      workflows,
      steps,
      calls: driven.reduce((sum, { answers }) => sum + answers.length + 1, 0),
      repeats: driven.reduce((sum, { repeats }) => sum + repeats, 0),
      slowestMs: Math.round(Math.max(0, ...driven.map(({ slowestMs }) => slowestMs))),
      seconds: Math.round(seconds),
      answered503: ground.answered(503),
      ...counts,
    },
    findings,
  };
}
