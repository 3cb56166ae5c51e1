import { commandName } from '../command-name.ts';
import type { Action, Claim } from '../machine/index.ts';
import { moreFlags } from './budget.ts';
import { listed } from './lists.ts';
import type { Voice } from './voice.ts';

/** The next action as a sentence and the commands that perform it, the likely one first. */
export interface NextCommands {
  say: string;
  commands: string[];
}

/** What a person types for each kind of decision. */
const decisionCommands = { review: 'approve', question: 'answer "…"', blocked: 'reject "…"' } as const;

export const decisionCommand = (kind: keyof typeof decisionCommands): string =>
  commandFor(decisionCommands[kind], undefined);

/** `stepfast approve --run k3f9x2ab`; `run` is undefined where the run need not be named. */
export const commandFor = (command: string, run: string | undefined): string =>
  run === undefined ? `${commandName()} ${command}` : `${commandName()} ${command} --run ${run}`;

/**
 * The next action for an agent that uses the command line. Decisions are worded so that the agent leaves them to the
 * person. `run` is the run to name in the commands, if several are active.
 *
 * @example
 * ```ts
 * import { nextForShell } from 'stepfast';
 *
 * nextForShell({ do: 'ask_status' }).commands; // ['stepfast status']
 * ```
 */
export function nextForShell(action: Action, run?: string): NextCommands {
  switch (action.do) {
    case 'work':
      return action.finish === 'set_tasks'
        ? { say: 'Set the tasks of the loop.', commands: [tasksCommand(action.step, run)] }
        : { say: 'Follow the instructions, then:', commands: [advanceCommand(action.at)] };
    case 'fix':
      return { say: 'Fix it, then:', commands: [advanceCommand(action.at)] };
    case 'reset_context':
      return {
        say: `Reset the context with /${action.context}, then ask again:`,
        commands: [`${commandName()} status --at ${action.at}`],
      };
    case 'wait':
      return waitForShell(action, run);
    case 'claim':
      return claimCommands(action, run, ' --as <name>');
    case 'nothing':
      return {
        say:
          action.because === 'cancelled'
            ? 'The run was cancelled.'
            : `Nothing: the run is ${action.because}.`,
        commands: [],
      };
    case 'ask_status':
      return { say: 'Show the run:', commands: [commandFor('status', run)] };
    case 'continue':
      return { say: `Continue at ${listed(action.at)}.`, commands: [] };
  }
}

function waitForShell(action: Extract<Action, { do: 'wait' }>, run: string | undefined): NextCommands {
  if (action.for === 'gates')
    return {
      say: action.before ? runningText(action) : 'The gates are running.',
      commands: decisionFor(action, run),
    };
  if (action.for === 'review' && action.by !== 'person') return agentReview(action, action.by.agent, run);
  return {
    say: `End your turn: the run waits for a person's ${decisionNoun(action)}. The person types:`,
    commands: decisionFor(action, run),
  };
}

/** What the action waits for, after `your` or `a person's`. */
export function decisionNoun(action: Extract<Action, { do: 'wait' }>): string {
  if (action.for === 'answer') return 'answer';
  if (action.for !== 'review') return 'decision';
  if (action.exhausted !== undefined)
    return `decision to accept '${action.exhausted}', whose until does not hold`;
  return action.leaves === undefined ? 'review' : `decision to leave '${action.leaves}' without tasks`;
}

export function agentReview({ at }: { at?: string }, agent: string, run: string | undefined): NextCommands {
  const which = at === undefined ? (run === undefined ? '' : ` --run ${run}`) : ` --at ${at}`;
  return {
    say: `Waits for the review of the agent '${agent}'.`,
    commands: [`${commandName()} review approve${which} --as ${agent}`],
  };
}

/** Of an action that waits for gates or for a command of the engine. */
export const runningText = ({ command, before }: { command?: string; before?: true }): string =>
  before
    ? 'The gates are running before the work begins.'
    : command === undefined
      ? 'The gates are running.'
      : `Stepfast is running: ${command}`;

export const waitCommands = {
  gates: ['status --wait'],
  preparation: ['status'],
  review: ['approve', 'reject "what is missing"'],
  answer: ['answer "your words"'],
  decision: ['reject "what to do differently"', 'rewind <step>'],
};

/** The commands that decide what an action waits for. */
export function decisionFor(action: Extract<Action, { do: 'wait' }>, run: string | undefined): string[] {
  const commands =
    action.for === 'budget'
      ? [
          `review approve ${moreFlags(action)}`,
          `review pivot${action.pivotTo === undefined ? ' --to <step>' : ''}${action.of === 'run' ? ` ${moreFlags(action)}` : ''} --feedback "why"`,
          'review abandon',
        ]
      : waitCommands[action.for];
  return commands.map((command) => commandFor(command, run));
}

export function claimCommands(
  { ready, decisions }: Claim,
  run: string | undefined,
  as: string,
): NextCommands {
  const [decision] = decisions;
  if (ready.length > 0)
    return { say: `Ready to claim: ${ready.join(', ')}.`, commands: [commandFor(`claim${as}`, run)] };
  if (decision) {
    const command =
      decision.at === undefined
        ? commandFor('review approve', run)
        : `${commandName()} review approve --at ${decision.at}`;
    return { say: `${decision.task} waits for a person: ${decision.kind}.`, commands: [command] };
  }
  return { say: 'No further task can be claimed now.', commands: [commandFor('status', run)] };
}

export const advanceCommand = (at: string): string =>
  `${commandName()} advance --at ${at} --output "what was done"`;
export const tasksCommand = (step: string, run: string | undefined): string =>
  commandFor(`tasks ${step} "first task" "second task"`, run);

/** One line of text: the sentence and its first command. */
export const asLine = ({ say, commands: [command] }: NextCommands): string =>
  command === undefined ? say : `${say} ${command}`;

/**
 * Renders refusals for the command line.
 *
 * @example
 * ```ts
 * import { type Refusal, refusalText, shellVoice } from 'stepfast';
 *
 * const nextFor = (refusal: Refusal): string => refusalText(refusal, shellVoice()).next;
 * ```
 */
export const shellVoice = ({
  run,
  reader,
}: {
  run?: string | undefined;
  reader?: 'agent' | 'person';
} = {}): Voice => ({
  next: (action) => asLine(nextForShell(action, run)),
  start: (input) =>
    input
      ? `${commandName()} start ${input.workflow} --input ${input.name}="..."`
      : `Start a run: ${commandName()} go "what to do". To use a run that has ended, pass --run <run>.`,
  startOrContinue: () => `Start a run: ${commandName()} go "what to do". To continue one, pass --run <run>.`,
  workflows: () => `List the workflows: ${commandName()} list`,
  chooseRun: () => 'Choose one with --run <run>.',
  setTasks: (step) => `Set the tasks: ${tasksCommand(step, run)}`,
  advance: (at) => `Then: ${advanceCommand(at)}`,
  handOver: (at, agent) => `Hand ${at} to '${agent}'.`,
  resetContext: (at, context) =>
    `Type /${context}, or hand ${at} to a subagent. A person can skip it with: ${commandFor('proceed', run)}`,
  askPerson: (command) => `${reader === 'person' ? 'Run' : 'Ask a person to run'}: ${command}`,
});
