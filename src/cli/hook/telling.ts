import type { LiveRun } from '../../runtime/index.ts';

/** For a session that begins where somebody else is at work. */
export function twoLines({ run, workflow, step }: LiveRun, heldBy: string): string {
  return [
    `The Stepfast run ${run} (workflow '${workflow}', step '${step}') is live here; the session ${heldBy.slice(0, 60)} works on it.`,
    'This session has no part in it, unless it is handed a position: workflow_status then tells where it stands.',
  ].join('\n');
}

/** For a session that begins where several runs could be meant. */
export function listed(runs: readonly LiveRun[], count: number): string {
  const lines = runs.map(
    ({ run, workflow, step, summary }) =>
      `- ${run}: workflow '${workflow}', step '${step}'${summary === undefined ? '' : `: ${summary.slice(0, 120)}`}`,
  );
  return [
    `${count} Stepfast runs are live here${count > runs.length ? `, the last ${runs.length} of them below` : ''}; which one this session is about, only its user knows:`,
    ...lines,
    'workflow_start with run_id goes on with one of them.',
  ].join('\n');
}
