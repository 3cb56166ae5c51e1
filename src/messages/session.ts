import type { StopVerdict } from '../machine/index.ts';
import { lasting } from './time-ago.ts';

/** What hooks say into a session, to its agent or to the person at its screen. */

interface LiveRun {
  run: string;
  workflow: string;
  step: string;
  summary?: string;
}

const described = ({ workflow, step, summary }: LiveRun): string =>
  `workflow '${workflow}', step '${step}'${summary === undefined ? '' : `: ${summary.slice(0, 120)}`}`;

/** To the agent of a session that starts while another session works on the run. */
export const otherSessionText = (run: LiveRun, holder: string): string =>
  `The Stepfast run ${run.run} (${described(run)}) is live here; the session ${holder.slice(0, 60)} works on it.
This session has no part in it unless it is handed a position; workflow_status then shows the position.`;

/** To the agent, before the last known state of a run whose server does not answer. */
export function lastKnownText(then: number, now: number): string {
  const at = `${new Date(then).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return `Stepfast: the server did not answer. This is the state of ${at}, ${Math.round((now - then) / 60_000)} min ago. Others may have continued since: call workflow_status when the server answers again.`;
}

/** To the agent, in place of a briefing that needs files. */
export const liveRunText = (run: LiveRun): string =>
  `The Stepfast run ${run.run} (${described(run)}) is live here. workflow_context returns its briefing.`;

/** To the agent of a session that starts where several runs are live. */
export const severalRunsText = (runs: readonly LiveRun[], count: number): string =>
  [
    `${count} Stepfast runs are live here${count > runs.length ? `; the last ${runs.length} are listed below` : ''}. Only the user knows which one this session is about:`,
    ...runs.map((run) => `- ${run.run}: ${described(run)}`),
    'Call workflow_start with run_id to continue one of them.',
  ].join('\n');

/** To the agent whose stop is held. */
export const stopHeldText = ({ at }: Extract<StopVerdict, { hold: true }>, next: string): string =>
  `Stepfast: ${at} is not finished. ${next} If it cannot be done, call workflow_advance with failed and say why.`;

/** To the person, when a turn ends although its position is not finished. */
export const stopReleasedText = (at: string, failedGate: string | undefined): string =>
  `Stepfast: ${at} is not finished${failedGate === undefined ? '' : `: ${failedGate} failed`}. This turn was held once already, so it may end.`;

export const gatesRunningText = (run: string): string =>
  `Stepfast: the gates of ${run} are still running; the stop was not held.`;

export const toolDeniedText = (denied: {
  position: string;
  agent: string;
  tool: string;
  workflow: string;
}): string =>
  `${denied.position} is for the agent '${denied.agent}', which cannot use ${denied.tool} (workflow '${denied.workflow}').`;

export const serverDownText = (message: string): string =>
  `Stepfast: ${message} This session continues with the last known state.`;

const ending = (exit: number | null): string => (exit === null ? 'ended by a signal' : `exit ${exit}`);

/** To the agent that `stepfast hold` holds: the command failed. */
export const holdText = (hold: {
  command: string;
  exit: number | null;
  ms: number;
  lines: readonly string[];
  time: number;
  limit: number;
}): string =>
  [
    `'${hold.command}' failed: ${ending(hold.exit)} after ${lasting(hold.ms)}. The user set 'stepfast hold', so a session in this worktree continues until the command passes (held ${hold.time} of ${hold.limit} times).`,
    ...(hold.lines.length === 0
      ? ['It printed nothing.']
      : ['The last lines of its output:', ...hold.lines.map((line) => `> ${line}`)]),
    'Stepfast runs it again when the turn ends. If it cannot pass here, say why in your reply; only the user removes a hold.',
  ].join('\n');

/** To the person: a session with a failing command may stop now. */
export const holdReleasedText = (command: string, exit: number | null, times: number | 'this_turn'): string =>
  `Stepfast: '${command}' still fails (${ending(exit)}); the session was held ${times === 'this_turn' ? 'once already in this turn' : `${times} times already`}, so it may stop.`;

/** To the person: the command could not finish in the time of a stop hook. */
export const holdUnfinishedText = (command: string, ms: number, busy: boolean): string =>
  `Stepfast: ${
    busy
      ? `there was no time left to run '${command}', or another session still runs it`
      : `'${command}' did not finish within ${lasting(ms)} and was stopped`
  }; the stop was not held.`;
