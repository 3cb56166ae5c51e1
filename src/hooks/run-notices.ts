import type { LiveRun } from '../runtime/index.ts';

/** For a session that starts while another session works on the run. */
export function twoLines({ run, workflow, step }: LiveRun, heldBy: string): string {
  return [
    `The Stepfast run ${run} (workflow '${workflow}', step '${step}') is live here; the session ${heldBy.slice(0, 60)} works on it.`,
    'This session has no part in it, unless it is handed a position: workflow_status then tells where it stands.',
  ].join('\n');
}

/** The introduction to a last known state. */
export function knownThen(then: number, now: number): string {
  const minutes = Math.round((now - then) / 60_000);
  const at = `${new Date(then).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return `Stepfast: the server did not answer: this is what was known at ${at}, ${minutes} min ago. Others may have gone on since: workflow_status tells, once it answers again.`;
}

/** In place of a briefing that needs files. */
export const unbriefed = ({ run, workflow, step, summary }: LiveRun): string =>
  `The Stepfast run ${run} (workflow '${workflow}', step '${step}'${summary === undefined ? '' : `: ${summary.slice(0, 120)}`}) is live here. workflow_context brings its briefing.`;

/** For a session that starts where several runs are live. */
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
