/**
 * Stands for src/messages/index.ts under `STEPFAST_MESSAGES=codes` (scripts/build/messages.ts): sentences are codes with
 * the data that they were made from. A test that fails only then depends on wording.
 */
import type { Action, Status, WaitingFor } from '../../src/machine/index.ts';
import type {
  AgentSession,
  NextCommands,
  RefusalText,
  Refused,
  StatusText,
  ToolCall,
  Voice,
} from '../../src/messages/index.ts';
import * as real from '../../src/messages/index.ts';

export * from '../../src/messages/index.ts';

/** `[work at=k3f9x2ab:build#1 step=build]`. */
const coded = (name: string, data: object): string => {
  const parts = Object.entries(data).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key}=${short(value)}`],
  );
  return `[${[name, ...parts.sort()].join(' ')}]`;
};

const short = (value: unknown): string => {
  if (Array.isArray(value)) return `(${value.map(short).join(',')})`;
  return value && typeof value === 'object' ? coded('', value) : String(value);
};

/** Within the room that sentences have. */
function actionCode(action: Action): string {
  const { do: name, ...data } = action;
  if (action.do === 'work') return coded(name, { ...data, delegate: action.delegate?.agent });
  if (action.do === 'fix')
    return coded(name, { ...data, gates: action.gates.map(({ exit }) => exit ?? 'failed').slice(0, 3) });
  if (action.do !== 'claim') return coded(name, data);
  const { run, ready, own, decisions } = action;
  const kinds = decisions.map(({ kind }) => kind).slice(0, 1);
  return coded(name, { run, ready: ready.slice(0, 5), own: own.slice(0, 2), decisions: kinds });
}

export function nextForTools(action: Action, call: ToolCall = {}): string {
  const special = Object.entries(call).filter(([, value]) => value);
  return `${actionCode(action)}${special.length === 0 ? '' : coded('call', Object.fromEntries(special))}`;
}

/** A person never sees a handle, and types `/clear`. */
const personCode = ({ at: _, ...action }: Action & { at?: unknown }): string =>
  actionCode(
    (action.do === 'reset_context' ? { ...action, context: `/${action.context}` } : action) as Action,
  );

/** The commands stay, since they must work as printed; the words that they suggest do not. */
const codedNext = (say: string, { commands }: NextCommands): NextCommands => ({
  say,
  commands: commands.map((command) => command.replaceAll(/"[^"]*"/g, '"words"')),
});

export const nextForShell = (action: Action, run?: string): NextCommands =>
  codedNext(actionCode(action), real.nextForShell(action, run));

export const nextForPerson = (
  action: Action,
  run?: string,
  agent: AgentSession = { open: true },
): NextCommands => {
  const next = real.nextForPerson(action, run, agent);
  const opens = !agent.open && next.say !== real.nextForPerson(action, run).say;
  return codedNext(opens ? coded('open_session', { program: agent.program }) : personCode(action), next);
};

/** The command to type stays, with its code. */
export function noticeForPerson(action: Action, code = ''): string | undefined {
  const [typed = ''] = real.noticeForPerson(action, code)?.match(/\/stepfast:\w+(?: [0-9a-f]{4})?/) ?? [];
  return real.noticeForPerson(action, code) && `${personCode(action)} ${typed}`.trim();
}

/** A question and a reason are an agent's own words. */
export function waitingText(waiting: WaitingFor): string {
  const { for: name, ...data } = waiting;
  return name === 'question' || name === 'blocked' ? real.waitingText(waiting) : coded(name, data);
}

export const statusText = <S extends Status>(
  status: S,
  render: (action: Action) => string,
): StatusText<S> => {
  const text = real.statusText(status, render);
  const { waiting } = status;
  return waiting && !('what' in waiting)
    ? { ...text, waiting: { ...waiting, what: waitingText(waiting) } }
    : text;
};

/** What each voice adds to a refusal, as codes. */
const codedVoice = (next: Voice['next'], options: object): Voice => ({
  next,
  start: (input) => coded('start', input ?? {}),
  startOrContinue: () => coded('start_or_continue', {}),
  workflows: () => coded('workflows', options),
  chooseRun: (runs) => coded('choose_run', { runs: real.listed(runs) }),
  setTasks: (step) => coded('set_tasks', { step }),
  advance: (at) => coded('advance', { at }),
  handOver: (at, agent) => coded('hand_over', { at, agent, ...options }),
  resetContext: (at, context) => coded('reset_context', { at, context }),
  askPerson: (command) => coded('ask_person', { command }),
});

export const shellVoice = ({ run }: { run?: string | undefined; reader?: 'agent' | 'person' } = {}): Voice =>
  codedVoice((action) => real.asLine(nextForShell(action, run)), { run });

export const toolVoice = (options: { workflows?: string; witnessed?: boolean } = {}): Voice =>
  codedVoice(nextForTools, options);

export function refusalText(refused: Refused, voice: Voice): RefusalText {
  const said: string[] = [];
  const record =
    <A extends unknown[]>(say: (...args: A) => string) =>
    (...args: A): string => {
      const text = say(...args);
      said.push(text);
      return text;
    };
  const text = real.refusalText(refused, {
    next: record(voice.next),
    start: record(voice.start),
    startOrContinue: record(voice.startOrContinue),
    workflows: record(voice.workflows),
    chooseRun: record(voice.chooseRun),
    setTasks: record(voice.setTasks),
    advance: record(voice.advance),
    handOver: record(voice.handOver),
    resetContext: record(voice.resetContext),
    askPerson: record(voice.askPerson),
  });
  if ('message' in refused) return text;
  const { code, params } = refused;
  // An error's own message comes from elsewhere.
  const message = 'message' in params ? params.message : coded(code, params);
  return { ...text, message, next: said.join(' ') || '[correct_it]' };
}

export const unusedAgentKeysText: typeof real.unusedAgentKeysText = (keys, agents) =>
  coded('unused_agent_keys', { keys, agents });

type LiveRun = Parameters<typeof real.liveRunText>[0];

/** Two lines, as the sentences are. */
export const otherSessionText: typeof real.otherSessionText = ({ run }, holder) =>
  [coded('other_session', { run }), coded('holder', { holder })].join('\n');
export const lastKnownText: typeof real.lastKnownText = (then) => coded('last_known', { then });
export const liveRunText: typeof real.liveRunText = ({ run }) => coded('live_run', { run });
/** One line a run, as the sentences have it. */
export const severalRunsText = (runs: readonly LiveRun[], count: number): string =>
  [coded('several_runs', { count }), ...runs.map(({ run }) => `- ${run}`)].join('\n');
export const severalOffersText = (_: readonly LiveRun[], count: number): string =>
  coded('several_offers', { count });
export const offerText: typeof real.offerText = ({ workflow, step, phase, cancel }) =>
  coded('offer', { workflow, step, phase: `${phase.current}/${phase.total}`, cancel });
export const offerForAgentText: typeof real.offerForAgentText = ({ run }) =>
  `${coded('offer_for_agent', { run })}\n-`;
export const stopHeldText: typeof real.stopHeldText = ({ at }, next) =>
  `${coded('stop_held', { at })} ${next}`;
export const stopRedText: typeof real.stopRedText = ({ gates, ...held }) =>
  [
    coded('stop_red', held),
    ...gates.flatMap(({ what, lines }) => [what, ...lines.map((line) => `> ${line}`)]),
  ].join('\n');
export const handedOverText: typeof real.handedOverText = ({ instructions, next }) =>
  [coded('handed_over', {}), instructions, next].join('\n\n');
export const freshContextText: typeof real.freshContextText = (next) =>
  `${coded('fresh_context', {})} ${next}`;
export const subagentFirstText: typeof real.subagentFirstText = (step) =>
  coded('subagent_first', { step: `'${step}'` });
export const checkLeftText: typeof real.checkLeftText = (commands) => coded('check_left', { commands });
export const greenStaysText: typeof real.greenStaysText = (step) => coded('green_stays', { step });
export const stepOpenText: typeof real.stepOpenText = (step) => coded('step_open', { step: `'${step}'` });
export const stillRedText: typeof real.stillRedText = (step, { what, expect }, cancel) =>
  coded('still_red', { step, command: what, expect, cancel });
export const nothingOpenText = coded('nothing_open', {});
export const nothingWaitsText: typeof real.nothingWaitsText = (name) => coded('nothing_waits', { name });
export const otherCodeText: typeof real.otherCodeText = (notice) =>
  `${coded('other_code', {})} ${notice ?? ''}`;
export const takenUpText: typeof real.takenUpText = (summary) => coded('taken_up', { summary });
export const filesChangedText: typeof real.filesChangedText = (step, files) =>
  coded('files_changed', { step, files });
export const decidedText: typeof real.decidedText = (name, { next, instructions = '', feedback = '' }) =>
  `${coded('decided', { name })} ${instructions} ${feedback} ${next}`;
/** The symbol and the status stay. */
export const runEndedText: typeof real.runEndedText = ({ workflow, status, checks, unproven = [], caught }) =>
  `${status === 'complete' && checks.length > 0 && unproven.length === 0 ? '✓' : '✗'} ${workflow} ${status} ${coded('run_ended', { caught, ...(unproven.length > 0 && { unproven }) })}`;
export const exhaustedText: typeof real.exhaustedText = (step) => coded('exhausted', { step });
export const unprovenText: typeof real.unprovenText = (gates) => coded('unproven', { gates });
export const untilRedText: typeof real.untilRedText = (gates, last) => coded('until_red', { gates, last });
export const redBeforeText: typeof real.redBeforeText = (before) => coded('red_before', { before });
export const greenNowText: typeof real.greenNowText = (before) => coded('green_now', { before });
export const baselineText: typeof real.baselineText = (gates) =>
  coded('baseline', { gates: gates.map(({ what, pass }) => `${what}:${pass ? 'pass' : 'fail'}`) });
export const redUntilText: typeof real.redUntilText = (gates) => coded('red_until', { gates });
export const filesDeletedText: typeof real.filesDeletedText = (run) => coded('files_deleted', { run });
export const compactionText: typeof real.compactionText = (workflow, step) =>
  coded('compaction', { workflow, step: `'${step}'` });
export const continueText = '[continue]';
export const contextPressureText: typeof real.contextPressureText = (percent, level) =>
  coded('context_pressure', { percent, level });
export const contextUsedText: typeof real.contextUsedText = (percent) => coded('context_used', { percent });
export const scheduledText = '[scheduled]';
export const alreadyOpenText: typeof real.alreadyOpenText = (summary, cancel) =>
  coded('already_open', { summary, cancel });
export const notTypedText: typeof real.notTypedText = (command) => coded('not_typed', { command });
export const terminalOnlyText: typeof real.terminalOnlyText = (command, why) =>
  coded('terminal_only', { command, why });
export const decideInTerminalText: typeof real.decideInTerminalText = (action, run) =>
  coded('decide_in_terminal', { for: action.for, run });
export const runCancelledText: typeof real.runCancelledText = (summary) => coded('cancelled', { summary });
export const trustText: typeof real.trustText = (name, grants, allow, changes) =>
  coded('trust', { name, grants, allow, changes });
export const holdSetText: typeof real.holdSetText = (command) => coded('hold_set', { command });
export const usageText: typeof real.usageText = (name) => coded('usage', { name });
export const stopReleasedText: typeof real.stopReleasedText = (at, red) =>
  coded('stop_released', { at, gate: red?.what });
export const gatesRunningText: typeof real.gatesRunningText = (run) => coded('gates_running', { run });
export const toolDeniedText: typeof real.toolDeniedText = (denied) => coded('tool_denied', denied);
export const serverDownText: typeof real.serverDownText = (message) => coded('server_down', { message });
export const holdText: typeof real.holdText = ({ lines, ...hold }) =>
  [coded('hold', hold), ...lines.map((line) => `> ${line}`)].join('\n');
export const holdReleasedText: typeof real.holdReleasedText = (command, exit, times) =>
  coded('hold_released', { command, exit, times });
export const holdUnfinishedText: typeof real.holdUnfinishedText = (command, ms, busy) =>
  coded('hold_unfinished', { command, ms, busy });
export const notificationText: typeof real.notificationText = ({ kind, position, text, unit, of }) =>
  coded('notification', { kind, position, text, unit, of });
export const setUpFailedText: typeof real.setUpFailedText = (problem) => coded('set_up_failed', { problem });
export const taskNotSetUpText: typeof real.taskNotSetUpText = (task, problem) =>
  coded('task_not_set_up', { task, problem });
export const settingUpText: typeof real.settingUpText = (task) => coded('setting_up', { task });
export const mergeTaskText: typeof real.mergeTaskText = (run, task) => coded('merge_task', { run, task });
export const mergeRunText: typeof real.mergeRunText = (run, task) => coded('merge_run', { run, task });
export const leftoversText: typeof real.leftoversText = (run, task) => coded('leftovers', { run, task });
export const worktreeFacts: typeof real.worktreeFacts = ({ worktree = {} }) => [coded('worktree', worktree)];
