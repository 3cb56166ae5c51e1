import { commandName } from '../command-name.ts';
import type { Action, Claim, Delegate, FailedGate, TaskState } from '../machine/index.ts';
import { decisionCommand } from './agent-shell.ts';
import { moreFlags } from './budget.ts';
import { drivenResetText } from './driver.ts';
import { firstWithin } from './fit-tokens.ts';
import { redBeforeText, redVerb } from './gate-results.ts';
import { listed } from './lists.ts';
import { capitalized } from './text.ts';
import type { Voice } from './voice.ts';

/** What the sentence about the next action depends on besides the action. */
export interface ToolCall {
  /** The call was taken for a repeat of the one at this handle. */
  repeatOf?: string;
  /** The output was not stored, because the run waits. */
  ignored?: boolean;
  /** The output was not stored, because another call had completed this position. */
  beaten?: string;
  /** This server has no files, so a caller with a checkout runs the gates. */
  gatesElsewhere?: boolean;
}

/**
 * The next action as a sentence for an agent with Stepfast's MCP tools.
 *
 * @example
 * ```ts
 * import { nextForTools } from 'stepfast';
 *
 * nextForTools({ do: 'ask_status' }); // 'Call workflow_status.'
 * ```
 */
export function nextForTools(action: Action, call: ToolCall = {}): string {
  const { repeatOf, ignored, beaten } = call;
  if (beaten !== undefined)
    return `Your output was not stored, because another call had completed ${beaten}. ${sentence(action, call)}`;
  if (repeatOf !== undefined && (action.do === 'work' || action.do === 'fix'))
    return `This call counted as a repeat of your call at ${repeatOf}. To complete ${action.at}, pass at.`;
  return `${ignored ? notStored(action) : ''}${sentence(action, call)}`;
}

function sentence(action: Action, { gatesElsewhere }: ToolCall): string {
  switch (action.do) {
    case 'work':
      if (action.finish === 'set_tasks') return `Follow the instructions, then ${setTasks(action.step)}`;
      if (!action.delegate) return `Follow the instructions, then ${advance(action.at)}`;
      return `Hand ${action.at} to a subagent ${described(action.delegate)}; it advances ${action.at}. If you are that subagent, continue.`;
    case 'fix':
      return action.gates.length > 0
        ? `${failure(action.gates)}. Fix it, then ${advance(action.at)}`
        : `The gates change files on every run. Make them stop changing files, then ${advance(action.at)}`;
    case 'reset_context':
      return freshContext(action);
    case 'wait':
      return waiting(action, gatesElsewhere);
    case 'claim':
      return claim(action);
    case 'nothing':
      return action.because === 'cancelled'
        ? 'Nothing: the run was cancelled.'
        : `Nothing: the run is ${action.because}. A person can rewind it to a step.`;
    case 'ask_status':
      return 'Call workflow_status.';
    case 'continue':
      return `Continue at ${listed(action.at)}.`;
  }
}

const advance = (at: string): string => `call workflow_advance with at ${at}.`;
const setTasks = (step: string): string => `call workflow_set_tasks with loop_id '${step}'.`;

function waiting(action: Extract<Action, { do: 'wait' }>, gatesElsewhere = false): string {
  const { at } = action;
  switch (action.for) {
    case 'gates':
      if (action.before)
        return `Stepfast runs gates before the work here begins: call workflow_status with at ${at} in a moment, or end your turn.`;
      if (action.command !== undefined)
        return `Stepfast is running '${action.command}', which needs no agent: call workflow_status with at ${at} in a moment, or end your turn.`;
      return `${gatesElsewhere ? 'The gates are waiting for a checkout that can run them' : 'The gates are running'}: call workflow_status with at ${at} in a moment.`;
    case 'preparation':
      return `Stepfast is finding out whether there is work here: call workflow_status with at ${at} in a moment.`;
    case 'review': {
      if (action.by === 'person')
        return `End your turn. The user decides${decidesWhat(action)} with: ${decisionCommand('review')}`;
      const { agent } = action.by;
      if (action.ownWork && action.driven) return `End your turn: the reviewer '${agent}' follows by itself.`;
      if (action.ownWork) {
        const reviewer = action.witnessed
          ? `a subagent that is the reviewer '${agent}'`
          : `the reviewer '${agent}' in a session of its own (your subagents count as you)`;
        return `Hand ${at} to ${reviewer}: it calls workflow_advance with at and a verdict.`;
      }
      return `If you are the reviewer '${agent}', review the work, then call workflow_advance with at ${at}, a verdict, and your reasons as output.`;
    }
    case 'answer':
      return `End your turn. The user decides with: ${decisionCommand('question')}`;
    case 'budget':
      return `The budget is used up, so the work stops here: end your turn. The user decides with: ${commandName()} review approve ${moreFlags(action)}`;
    case 'decision':
      return at === undefined
        ? `Call workflow_set_tasks with more tasks for '${action.step}', or end your turn. The user decides with: ${decisionCommand('blocked')}`
        : `End your turn. The user decides with: ${decisionCommand('blocked')}`;
  }
}

function decidesWhat({ leaves, exhausted }: Extract<Action, { for: 'review' }>): string {
  if (exhausted !== undefined) return ` whether '${exhausted}' is accepted although its until does not hold`;
  return leaves === undefined ? '' : ` whether '${leaves}' is left without tasks`;
}

const waitsFor = {
  gates: 'its gates',
  preparation: 'its preparation',
  review: 'a review',
  answer: 'an answer',
  decision: 'a decision',
  budget: 'more budget',
};

function notStored(action: Action): string {
  const at = 'at' in action && typeof action.at === 'string' ? action.at : 'the run';
  const what = action.do === 'wait' ? waitsFor[action.for] : 'a decision';
  return `Your output was not stored, because ${at} waits for ${what}. `;
}

/** Only a person or the host can clear a context; an agent cannot do it to itself. */
function freshContext(action: Extract<Action, { do: 'reset_context' }>) {
  const { at, context, agent, required, elsewhere } = action;
  if (action.driven) return drivenResetText(at);
  if (elsewhere)
    return `Another session was asked to reset its context here. If this session has just started, its context is fresh: call workflow_status with at ${at}.`;
  const subagent = agent === undefined ? 'a subagent' : `a subagent '${agent}'`;
  const otherwise = required
    ? `Or the user skips it with: ${commandName()} proceed`
    : 'If neither is possible, workflow_status gives the instructions.';
  return `This position needs a fresh context (/${context}), which you cannot create yourself: hand ${at} to ${subagent}, or end your turn and ask the user to type /${context} and then continue. ${otherwise}`;
}

function failure(gates: readonly FailedGate[]): string {
  const [first] = gates;
  const exit = first?.exit === undefined ? '' : ` (exit ${first.exit})`;
  const what = firstWithin(first?.what ?? 'a gate', 20);
  const more = gates.length - 1;
  const was = first?.before === undefined ? '' : `, and ${redBeforeText(first.before)}`;
  if (first?.expect)
    return `${what} ${redVerb(first)}${exit}${was}${more > 0 ? `, and ${more} more failed` : ''}`;
  return more > 0 ? `${what}${exit} and ${more} more failed` : `${what} failed${exit}${was}`;
}

/** The allowed tools, after those that are always allowed. */
export const withStepfast = (tools: readonly string[]): string =>
  listed(["Stepfast's tools", ...tools], ', ', 20);

function described({ agent, description, tools, cannot }: Delegate): string {
  const about = [
    ...(description === undefined ? [] : [firstWithin(description, 16)]),
    ...(tools === undefined ? [] : [firstWithin(`it may use only ${withStepfast(tools)}`, 24)]),
    ...(cannot.length === 0 ? [] : [firstWithin(`it cannot use ${listed(cannot)}`, 24)]),
  ];
  return `'${agent}'${about.length === 0 ? '' : ` (${about.join('; ')})`}`;
}

function claim({ run, ready, own, held, limit, open, decisions }: Claim): string {
  const continueOwn = own.length === 0 ? '' : `Continue at ${own.slice(0, 2).join(' or ')}. `;
  if (ready.length > 0)
    return `${continueOwn}Call workflow_claim with run_id ${run}; ready: ${listed(ready)}.`;
  const why = held >= limit ? `all ${held} slots are taken` : 'no task is ready';
  const waits = open.map(({ task, state }) => firstWithin(`${task} ${taskStateText(state)}`, 20));
  const what = waits.length === 0 ? '' : `: ${listed(waits, '; ', 3)}`;
  const [decision] = decisions;
  const then = decision
    ? `End your turn. The user decides with: ${decisionCommand(decision.kind)}`
    : 'End your turn, or call workflow_status later.';
  return `${continueOwn}Nothing can be claimed, ${why}${what}. ${then}`;
}

function taskStateText(state: TaskState): string {
  if (state.is === 'ended') return `is ${state.end}`;
  if (state.is === 'ready') return 'is ready';
  if (state.is === 'started') return 'is in progress';
  if (state.is === 'held') return `is held by ${state.by}`;
  if (state.is === 'depends') return `depends on ${state.on.join(', ')}`;
  if (state.is === 'review')
    return `waits for a review by ${state.by === 'human' ? 'the user' : `'${state.by}'`}`;
  if (state.is === 'question') return "waits for the user's answer";
  if (state.is === 'queued' || state.is === 'merging') return 'waits to be merged';
  if (state.is === 'returned') return 'could not be merged and is ready';
  if (state.is === 'parked') return 'could not be merged and waits for the user';
  return 'is stuck and waits for the user';
}

/**
 * Renders refusals for an agent with MCP tools. `workflows` are those it can start; `witnessed`: hooks report which
 * subagent calls.
 *
 * @example
 * ```ts
 * import { type Refusal, refusalText, toolVoice } from 'stepfast';
 *
 * const messageFor = (refusal: Refusal): string => refusalText(refusal, toolVoice()).message;
 * ```
 */
export const toolVoice = ({
  workflows,
  witnessed,
}: {
  workflows?: string;
  witnessed?: boolean;
} = {}): Voice => ({
  next: (action) => nextForTools(action),
  start: (input) =>
    input ? `Call workflow_start with inputs { ${input.name}: "…" }.` : 'Call workflow_start.',
  startOrContinue: () => 'Call workflow_start, with run_id to continue a run; or pass at.',
  workflows: () =>
    workflows === undefined
      ? 'Call workflow_start with another name.'
      : `Call workflow_start with one of: ${workflows}.`,
  chooseRun: (runs) => `Pass at, or call workflow_start with run_id, one of: ${listed(runs)}.`,
  setTasks: (step) => capitalized(setTasks(step)),
  advance: (at) => capitalized(advance(at)),
  handOver: (at, agent) =>
    `Hand ${at} to '${agent}', in ${witnessed ? 'a subagent' : 'a session of its own: your subagents count as you'}.`,
  resetContext: (at, context) =>
    `The user types /${context}, or hand ${at} to a subagent. A person can skip it with: ${commandName()} proceed`,
  askPerson: (command) => `Ask the user to run: ${command}`,
});

/** A start in other words found a live run. */
export const otherWordsText = ({ summary }: { summary?: string | undefined }): string =>
  `this run is under way here${summary === undefined ? '' : `: ${JSON.stringify(summary)}`}; for other work, send the call again with new: true`;

/** A run continues what another program left unfinished. */
export const takenOverText = (source: string): string =>
  `taken over from ${source}, which Stepfast does not update`;

/** The output of an adopted run that its source has ended. */
export const sourceCompleteText = (source: string): string => `${source} says that it is complete.`;
