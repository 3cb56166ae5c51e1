import { commandName } from '../command-name.ts';
import { type Action, type Claim, suffixOf } from '../machine/index.ts';
import {
  agentReview,
  claimCommands,
  commandFor,
  decisionFor,
  decisionNoun,
  type NextCommands,
  runningText,
  waitCommands,
} from './agent-shell.ts';
import { budgetNotice } from './budget.ts';

/** The agent's session that works on a run; if there is none, the program that opens one, where it is known. */
export type AgentSession =
  | { open: true; host?: string | undefined }
  | { open: false; program?: string | undefined };

/**
 * The next action for a person. Agents do the work; the person decides.
 *
 * @example
 * ```ts
 * import { nextForPerson } from 'stepfast';
 *
 * nextForPerson({ do: 'wait', for: 'review', by: 'person' }).commands[0]; // 'stepfast approve'
 * ```
 */
export function nextForPerson(
  action: Action,
  run?: string,
  agent: AgentSession = { open: true },
): NextCommands {
  switch (action.do) {
    case 'work':
      if (!agent.open) return openSession(agent);
      return action.finish === 'set_tasks'
        ? {
            say: 'The agent is planning the tasks of the loop. There is nothing for you to do.',
            commands: [],
          }
        : { say: 'The agent is working. There is nothing for you to do.', commands: [] };
    case 'fix':
      if (!agent.open) return openSession(agent);
      return { say: 'The agent is fixing the failed gates. There is nothing for you to do.', commands: [] };
    case 'reset_context': {
      if (!agent.open) return openSession(agent);
      const say = `Type /${action.context} in ${agent.host ?? "the agent's session"}; it continues by itself.`;
      return action.required
        ? { say: `${say} To continue without it:`, commands: [commandFor('proceed', run)] }
        : { say, commands: [] };
    }
    case 'wait':
      if (action.for === 'gates') return { say: runningText(action), commands: decisionFor(action, run) };
      if (action.for === 'review' && action.by !== 'person') return agentReview({}, action.by.agent, run);
      return { say: `Waits for your ${decisionNoun(action)}.`, commands: decisionFor(action, run) };
    case 'claim':
      return nextClaim(action, run, agent);
    case 'nothing':
      return action.because === 'cancelled'
        ? { say: 'The run was cancelled.', commands: [] }
        : {
            say: 'The run has ended. To go back to a step:',
            commands: [commandFor('rewind <step>', suffixOf(action.run))],
          };
    case 'ask_status':
    case 'continue':
      return { say: 'Show the run:', commands: [commandFor('status', run)] };
  }
}

function nextClaim(claim: Claim, run: string | undefined, agent: AgentSession): NextCommands {
  const { ready, decisions } = claim;
  const [decision] = decisions;
  if (ready.length > 0) return agent.open ? claimCommands(claim, run, '') : openSession(agent);
  if (decision) {
    const wait = { review: 'review', question: 'answer', blocked: 'decision' } as const;
    // Without a handle, which people are not shown. Where several wait, the command lists them.
    const [command = ''] = waitCommands[wait[decision.kind]];
    return {
      say: `The task ${decision.task} waits for your ${wait[decision.kind]}.`,
      commands: [commandFor(command, run)],
    };
  }
  return { say: 'Agents hold the open tasks. There is nothing for you to do.', commands: [] };
}

function openSession({ program }: Extract<AgentSession, { open: false }>): NextCommands {
  const say =
    program === undefined
      ? `Open your coding agent here and say: run "${commandFor('status', undefined)}" and continue`
      : `Open ${program} here and say: continue`;
  return { say, commands: [] };
}

/** The notice in an agent's session when a turn ends and the person has to act; undefined otherwise. */
export function noticeForPerson(action: Action, code = ''): string | undefined {
  if (action.do === 'reset_context') {
    const context = action.context === 'clear' ? 'a fresh context' : 'a compacted context';
    const otherwise = action.required
      ? `The run waits for it; '${commandName()} proceed' skips it.`
      : 'Any other message continues in this context.';
    return `starts with ${context}. Type /${action.context}; it continues by itself. ${otherwise}`;
  }
  if (action.do !== 'wait' || (action.for === 'review' && action.by !== 'person')) return undefined;
  const given = code === '' ? '' : ` ${code}`;
  const text = {
    review: `waits for your ${decisionNoun(action)}. Type /stepfast:approve${given}, or /stepfast:reject${given} WHY`,
    answer: 'waits for your answer. Type /stepfast:answer TEXT',
    decision: `is blocked and waits for you. Type /stepfast:reject${given} WHAT TO DO INSTEAD, or in a terminal: ${commandName()} rewind`,
    gates: undefined,
    preparation: undefined,
    budget: action.for === 'budget' ? budgetNotice(action) : undefined,
  }[action.for];
  return text;
}

/** Of a workflow that is valid: keys of its agents that change nothing. */
export const unusedAgentKeysText = (keys: readonly string[], agents: readonly string[]): string =>
  `${keys.map((key) => `'${key}'`).join(' and ')} of ${agents.join(', ')}: used by stepfast run. A session that a person opens keeps its own model and permission mode.`;

/** In the status of a run. */
export const contextUsedText = (percent: number): string =>
  `${percent} % full, a compaction may come soon: notes of the run survive it`;
