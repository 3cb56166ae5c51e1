import type { Action } from '../machine/index.ts';
import {
  agentReview,
  claimCommands,
  commandFor,
  decisionFor,
  decisionNoun,
  type NextCommands,
  tasksCommand,
} from './shell.ts';

/** What a person can do next; never shows a handle. An agent does the work, the person decides. */
export function nextForPerson(action: Action, run?: string): NextCommands {
  switch (action.do) {
    case 'work':
      return action.finish === 'set_tasks'
        ? { say: 'The agent sets the tasks of the loop.', commands: [tasksCommand(action.step, run)] }
        : { say: 'The agent is working.', commands: [advance(run)] };
    case 'fix':
      return { say: 'The agent is fixing it.', commands: [advance(run)] };
    case 'reset_context':
      return {
        say: `Waiting for /${action.context} in the agent's session.`,
        commands: action.required ? [commandFor('proceed', run)] : [],
      };
    case 'wait':
      if (action.for === 'gates')
        return { say: 'The gates are running.', commands: decisionFor(action, run) };
      if (action.for === 'review' && action.by !== 'person') return agentReview(action, action.by.agent, run);
      return { say: `Waits for your ${decisionNoun(action)}.`, commands: decisionFor(action, run) };
    case 'claim':
      return claimCommands(action, run, '');
    case 'nothing':
      return action.because === 'cancelled'
        ? { say: 'The run was cancelled.', commands: [] }
        : {
            say: 'Nothing. To go back to a step:',
            commands: [`stepfast rewind <step> --run ${action.run.slice(action.run.lastIndexOf('-') + 1)}`],
          };
    case 'ask_status':
      return { say: 'Look at the run:', commands: [commandFor('status', run)] };
    case 'continue':
      return { say: 'Look at the run:', commands: [commandFor('status', run)] };
  }
}

/** Shown to the person in an agent's session when a turn ends and the person is next; undefined otherwise. */
export function noticeForPerson(action: Action): string | undefined {
  if (action.do === 'reset_context') {
    const context = action.context === 'clear' ? 'a fresh context' : 'a compacted context';
    const otherwise = action.required
      ? "It waits for that; 'stepfast proceed' skips it."
      : 'Any other message continues in this context.';
    return `starts with ${context}. Type /${action.context}, then: continue. ${otherwise}`;
  }
  if (action.do !== 'wait') return undefined;
  switch (action.for) {
    case 'review':
      return action.by === 'person'
        ? inTerminal('waits for your review: stepfast approve, or stepfast reject "why"')
        : undefined;
    case 'answer':
      return inTerminal('waits for your answer: stepfast answer "…"');
    case 'decision':
      return inTerminal(
        'is blocked and waits for you: stepfast reject "what to do instead", or stepfast rewind',
      );
    case 'gates':
    case 'budget':
      return undefined;
  }
}

const advance = (run: string | undefined): string => commandFor('advance "what was done"', run);

const inTerminal = (text: string): string => `${text}, in a terminal of your own; then: continue.`;
