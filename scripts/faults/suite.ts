import type { Finding } from '../../test/sim/ledger.ts';
import { auditRuns, strayRuns } from './audit.ts';
import { drive, inParallel, type Plant } from './drive.ts';
import type { Ground } from './ground.ts';

export interface SuiteOptions {
  workflows: number;
  tasks: number;
  seed: number;
  plant: Plant;
}

/** What one suite counted; a finding is a broken promise. */
export interface Outcome {
  counts: Record<string, number>;
  findings: Finding[];
  /** Why it could not be played here. */
  skipped?: string;
}

/** How long an agent goes on repeating one call before it counts as one that did not end well. */
export const agentPatienceMs = 240_000;

/** Agents drive workflows to their ends while `trouble` makes it; then the database is held against what they were told. */
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
  const options = { suite, patienceMs: agentPatienceMs };
  const [driven, counts] = await Promise.all([
    inParallel(workflows, atOnce, async (number) => {
      const one = await drive(ground.client, number, options);
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
