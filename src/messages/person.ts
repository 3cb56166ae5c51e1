import { type Action, suffixOf } from '../machine/index.ts';
import {
  agentReview,
  claimCommands,
  commandFor,
  decisionFor,
  decisionNoun,
  type NextCommands,
  tasksCommand,
} from './agent-shell.ts';

/** Without a handle: people are not shown handles. */
const advance = 'advance --output "what was done"';

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
export function nextForPerson(action: Action, run?: string): NextCommands {
  switch (action.do) {
    case 'work':
      return action.finish === 'set_tasks'
        ? { say: 'The agent is planning the tasks of the loop.', commands: [tasksCommand(action.step, run)] }
        : { say: 'The agent is working.', commands: [commandFor(advance, run)] };
    case 'fix':
      return { say: 'The agent is fixing the failed gates.', commands: [commandFor(advance, run)] };
    case 'reset_context':
      return {
        say: `Type /${action.context} in the agent's session; it continues by itself.`,
        commands: [commandFor(action.required ? 'proceed' : 'status', run)],
      };
    case 'wait':
      if (action.for === 'gates')
        return { say: 'The gates are running.', commands: decisionFor(action, run) };
      if (action.for === 'review' && action.by !== 'person') return agentReview({}, action.by.agent, run);
      return { say: `Waits for your ${decisionNoun(action)}.`, commands: decisionFor(action, run) };
    case 'claim':
      return claimCommands(action, run, '');
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

/** The notice in an agent's session when a turn ends and the person has to act; undefined otherwise. */
export function noticeForPerson(action: Action, code = ''): string | undefined {
  if (action.do === 'reset_context') {
    const context = action.context === 'clear' ? 'a fresh context' : 'a compacted context';
    const otherwise = action.required
      ? "The run waits for it; 'stepfast proceed' skips it."
      : 'Any other message continues in this context.';
    return `starts with ${context}. Type /${action.context}; it continues by itself. ${otherwise}`;
  }
  if (action.do !== 'wait' || (action.for === 'review' && action.by !== 'person')) return undefined;
  const given = code === '' ? '' : ` ${code}`;
  const text = {
    review: `waits for your ${decisionNoun(action)}. Type /stepfast:approve${given}, or /stepfast:reject${given} WHY`,
    answer: 'waits for your answer. Type /stepfast:answer TEXT',
    decision: `is blocked and waits for you. Type /stepfast:reject${given} WHAT TO DO INSTEAD, or in a terminal: stepfast rewind`,
    gates: undefined,
    budget: undefined,
  }[action.for];
  return text;
}
