import { type Action, type RunStatus, type StopVerdict, suffixOf } from '../machine/index.ts';
import type { Grant, GrantChanges } from '../schema/index.ts';
import { commandFor, decisionFor, decisionNoun } from './agent-shell.ts';
import { withStepfast } from './agent-tools.ts';
import { redVerb } from './gate-results.ts';
import { grantChangesText, grantText } from './grants.ts';
import { count as counted } from './text.ts';
import { ago, lasting } from './time-ago.ts';

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

interface Offer extends LiveRun {
  phase: { current: number; total: number; name: string };
  updatedAt: number;
  now: number;
  /** The notice about a decision of the person that it waits for. */
  waits: string | undefined;
  /** How the person ends it. */
  cancel: string;
}

/** To the person whose session starts where a run is unfinished that it has no part in. */
export function offerText({ workflow, summary, phase, updatedAt, now, waits, cancel }: Offer): string {
  const name = `${workflow}${summary === undefined ? '' : ` "${summary.slice(0, 80)}"`}`;
  const next = waits?.replace(/^Stepfast: /, '') ?? 'To go on with it, say: continue';
  return `Stepfast: unfinished here: ${name}, step ${phase.current} of ${phase.total} (${phase.name}), last active ${ago(updatedAt, now)}. ${next}. To end it: ${cancel}`;
}

/** To its agent. */
export const offerForAgentText = (offer: Offer): string =>
  `Unfinished here, and not part of this session: the Stepfast run ${offer.run} (${described(offer)}), last active ${ago(offer.updatedAt, offer.now)}.
Only if the user wants to continue it, call workflow_status, and its briefing follows. Otherwise leave it alone.`;

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

/** To the person of that session. */
export const severalOffersText = (runs: readonly LiveRun[], count: number): string =>
  `Stepfast: ${count} unfinished runs here${count > runs.length ? ', among them' : ''}: ${runs.map(({ workflow, summary }) => (summary === undefined ? workflow : `${workflow} "${summary.slice(0, 60)}"`)).join(', ')}. To go on with one, say which.`;

/** To the agent whose stop is held. */
export const stopHeldText = ({ at }: Extract<StopVerdict, { hold: true }>, next: string): string =>
  `Stepfast: ${at} is not finished. ${next} If it cannot be done, call workflow_advance with failed and say why.`;

interface FailedGate {
  what: string;
  exit?: number | null | undefined;
  expect?: 'fail' | undefined;
  lines: readonly string[];
}

/** To the agent whose turn ended while gates of its position fail. */
export const stopRedText = ({
  gates,
  time,
  limit,
}: {
  gates: readonly FailedGate[];
  time: number;
  limit: number;
}): string =>
  [
    `Stepfast ran the checks of this step when your turn ended, and they ${gates.some(({ expect }) => expect) ? 'do not pass' : 'fail'} (${time} of ${limit}). Fix the cause, then end your turn: the checks run again by themselves.`,
    ...gates.flatMap(({ what, exit, expect, lines }) => [
      `${what}: ${exit === undefined || exit === null ? redVerb({ expect }) : `exit ${exit}`}`,
      ...lines.map((line) => `> ${line}`),
    ]),
    'If it cannot be fixed here, say why in your reply.',
  ].join('\n');

/** To the agent: the checks passed at the end of the turn, and the next step begins. */
export const handedOverText = ({
  instructions,
  next,
  command,
}: {
  instructions: string;
  next: string;
  /** That has run meanwhile. */
  command?: string | undefined;
}): string =>
  `Stepfast: ${command === undefined ? 'the checks passed, and this step is done' : `'${command}' has run`}. The next step:\n\n${instructions}\n\n${next}`;

/** To the person: the engine works, and the session is woken. */
export const commandLeftText = (command: string): string =>
  `Stepfast is running: ${command}. This session continues by itself when a step for the agent follows.`;

export const freshContextText = (next: string): string =>
  `Stepfast: the checks passed, and this step is done. ${next}`;

/** To the summarizer and, with a manual compaction, on the person's screen: one line. */
export const compactionText = (workflow: string, step: string): string =>
  `Stepfast restores the run '${workflow}' after this compaction, at the step '${step}'. Keep what the user decided.`;

/** To the agent, when its context was reset as the run has asked. */
export const continueText =
  'Stepfast: the context was reset as this run asked. Continue with the step in the briefing above.';

/** To the person. */
export const checkLeftText = (commands: readonly string[]): string =>
  `Stepfast: ${commands.join(', ') || 'the check'} is still running. This session continues by itself when it fails or a next step follows.`;
export const greenStaysText = (step: string): string =>
  `Stepfast: the checks of '${step}' pass. The step stays open, because the agent asked a question.`;
export const subagentFirstText = (step: string): string =>
  `Stepfast: the next step, '${step}', starts with a fresh context. The agent may start a subagent for it.`;
export const stepOpenText = (step: string): string => `Stepfast: the step '${step}' is still open.`;
export const stillRedText = (
  step: string,
  { what, expect }: Pick<FailedGate, 'what' | 'expect'>,
  /** How the person ends the run, where the turn was continued often. */
  cancel: string | undefined,
): string =>
  `Stepfast: ✗ ${what} ${expect ? 'still does not fail as expected' : 'still fails'}, so '${step}' is not done.${cancel === undefined ? '' : ` The turn was continued three times already. Tell the agent what to do, or end the run: ${cancel}`}`;

export const filesChangedText = (step: string, files: readonly string[]): string =>
  `Stepfast: the checks of '${step}' passed, but ${files.join(', ')} changed while they ran, twice, so nothing is proven. If the checks write there, add it to .gitignore, or to 'writes' of the gate.`;

/** To the person: how a run ended. Only passed checks prove anything. */
export function runEndedText(run: {
  workflow: string;
  status: RunStatus;
  reason?: string | undefined;
  checks: readonly string[];
  /** Steps that ended although their `until` did not hold. */
  unproven?: readonly string[];
  caught: number;
}): string {
  const { workflow, status, reason, checks, unproven = [], caught } = run;
  const why = reason === undefined ? '' : `: ${reason}`;
  if (status !== 'complete') return `Stepfast: ✗ ${workflow} ${status}${why}. Nothing is proven.`;
  if (unproven.length > 0) {
    const passed = checks.length === 0 ? '' : ` · ${checks.join(', ')} passed`;
    return `Stepfast: ${workflow} complete, unproven: ${unproven.map((step) => `${step}'s 'until'`).join(', ')} never held${passed}`;
  }
  if (checks.length === 0) return `Stepfast: ${workflow} complete, not verified: no check ran.`;
  const lies = caught === 0 ? '' : ` · ${counted(caught, 'false "done"', 'false "done"')} caught`;
  return `Stepfast: ✓ ${workflow} complete · ${checks.join(', ')} passed${lies}`;
}

export const filesDeletedText = (run: string): string =>
  `Stepfast: ✗ .stepfast was deleted, and with it the run ${run}. Nothing is checked in this project any more, and nothing is proven.`;

/** To the person, when a turn ends although its position is not finished. */
export const stopReleasedText = (at: string, red: Pick<FailedGate, 'what' | 'expect'> | undefined): string =>
  `Stepfast: ${at} is not finished${red === undefined ? '' : `: ${red.what} ${redVerb(red)}`}. This turn was held once already, so it may end.`;

export const gatesRunningText = (run: string): string =>
  `Stepfast: the gates of ${run} are still running; the stop was not held.`;

export const toolDeniedText = (denied: {
  position: string;
  agent: string;
  tool: string;
  workflow: string;
  /** The only tools that it may use. */
  allowed?: readonly string[];
  /** The reader is a subagent without a position of its own. */
  ofParent?: true;
}): string =>
  [
    `${denied.position} is for the agent '${denied.agent}', which ${denied.allowed === undefined ? 'cannot use' : `may use only ${withStepfast(denied.allowed)}, not`} ${denied.tool} (workflow '${denied.workflow}').`,
    denied.ofParent
      ? 'This also applies to you, because the session that started you is at that position. If you were handed another one, call workflow_status with its handle first.'
      : 'Work without it. If that is impossible, call workflow_advance with failed and say why.',
  ].join(' ');

/** To the agent, once for each level of 75 and 90 percent. */
export const contextPressureText = (percent: number, level: 75 | 90): string =>
  `Stepfast: the context of this session is ${percent} % full${level === 90 ? ', and a compaction is near' : ''}. ${level === 90 ? 'Now' : 'Before it is compacted'}, write down with workflow_note what only this conversation knows: decisions, corrections of the user, rejected approaches, and findings that are in no file. The position, the notes, the tasks and the results of the run are kept and come back by themselves. Then go on.`;

/** To the agent that schedules a prompt. */
export const scheduledText =
  'Stepfast: commands of Stepfast are typed by the user and cannot be scheduled. Tell the user what to type.';

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

/** To the person: a command that was typed in the session was not carried out, or needs no turn of the agent. */
export const alreadyOpenText = (summary: string, cancel: string): string =>
  `Stepfast: this session already works on: ${summary}. Tell the agent what to add, or end that run first: ${cancel}`;
export const notTypedText = (command: string): string =>
  `Stepfast: this was not typed by a person, so it was not recorded. In a terminal: ${command}`;
export const terminalOnlyText = (command: string, why: 'server' | 'configured'): string =>
  `Stepfast: ${why === 'server' ? 'this run is on a server' : "your configuration says 'decide: terminal'"}. Decide in a terminal: ${command}`;
/** What follows the name of a position, where decisions are taken in a terminal. */
export const decideInTerminalText = (action: Extract<Action, { do: 'wait' }>, run: string): string =>
  `waits for your ${decisionNoun(action)}. In a terminal: ${decisionFor(action, suffixOf(run)).join(', or ')}`;
export const runCancelledText = (summary: string): string =>
  `Stepfast: ✗ cancelled, not verified: ${summary}`;
export function trustText(
  name: string,
  grants: readonly Grant[],
  /** How a person allows it; undefined where it is allowed. */
  allow: string | undefined,
  changes?: GrantChanges,
): string {
  const all = grants.map(grantText).join('; ');
  if (allow === undefined)
    return `Stepfast: '${name}' is trusted to run on this machine: ${all || 'no commands'}`;
  const since = changes ? ` Changed since you trusted it: ${grantChangesText(changes)}.` : '';
  return `Stepfast: '${name}' runs on this machine: ${all}.${since} To allow exactly this${allow}`;
}
export const holdSetText = (command: string | undefined): string =>
  command === undefined
    ? 'Stepfast: hold removed.'
    : `Stepfast: sessions here continue until '${command}' passes, for 24 hours. To remove it: /stepfast:hold off`;
export const typedDecisions = [
  'approve',
  'reject',
  'answer',
  'budget',
  'done',
  'cancel',
  'trust',
  'hold',
] as const;
export type TypedDecision = (typeof typedDecisions)[number];

/** The same decision at a terminal. */
export function terminalCommand(name: TypedDecision, run?: string): string {
  const command = {
    approve: 'approve',
    reject: 'reject "why"',
    answer: 'answer "your answer"',
    budget: 'review approve --turns 20',
    done: 'advance --output "what was done"',
    cancel: 'cancel',
    trust: 'trust',
    hold: 'hold "npm test"',
  }[name];
  return commandFor(command, run === undefined ? undefined : suffixOf(run));
}

/** To the person: the command lacks something. */
export const usageText = (name: 'reject' | 'answer' | 'budget' | 'hold'): string =>
  ({
    reject: 'Stepfast: say what to change: /stepfast:reject WHY',
    answer: 'Stepfast: type the answer: /stepfast:answer TEXT',
    budget:
      'Stepfast: say how much more: /stepfast:budget +20 turns (or tokens, minutes, dollars). Also: /stepfast:budget pivot WHY (with +20 turns before WHY for the budget of the run), escalate WHY, abandon',
    hold: 'Stepfast: name a command: /stepfast:hold npm test. To remove a hold: /stepfast:hold off',
  })[name];
export const nothingOpenText =
  'Stepfast: no run is open in this session. To start one: /stepfast:go WHAT TO DO';
export const nothingWaitsText = (name: string): string =>
  name === 'done'
    ? 'Stepfast: several steps are open, or none. To see them: /stepfast:status'
    : 'Stepfast: nothing waits for your decision.';
/** The code is missing, or of something that no longer waits. `notice` is about what does. */
export const otherCodeText = (notice: string | undefined): string =>
  `Stepfast: nothing was decided. Type the code of what waits now.${notice === undefined ? '' : ` ${notice.replace(/^Stepfast: /, '')}`}`;
/** To the person who says `continue`. */
export const takenUpText = (summary: string): string => `Stepfast: this session continues: ${summary}`;

/** To the agent: the person has decided. */
/** To the agent, after a decision of the person. */
export const decidedText = (
  name: string,
  {
    next,
    instructions,
    feedback,
  }: { next: string; instructions?: string | undefined; feedback?: string | undefined },
): string => {
  const recorded = `The user typed /stepfast:${name}, and it is recorded.`;
  if (instructions === undefined) return `${recorded} ${next}`;
  return [`${recorded} The step to work on now:`, instructions, feedback, next].filter(Boolean).join('\n\n');
};
