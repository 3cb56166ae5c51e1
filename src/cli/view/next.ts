import type { Status } from '../../machine/index.ts';
import { suffixOf } from '../run-name.ts';

export interface Next {
  /** Who has to act, and why. */
  say: string;
  /** What to type, the likely one first. */
  type: string[];
}

interface Reader {
  /** Names the run in what to type, where several are live. */
  run?: string | undefined;
  /** Whoever works on the run, not somebody who looks at it. */
  worker: boolean;
}

/** What comes next as commands of this program. */
export function nextOf(status: Status, { run, worker }: Reader): Next {
  const which = run === undefined ? '' : ` --run ${run}`;
  const at = status.at === undefined ? which : ` --at ${status.at}`;
  // An agent must not take "you" for itself.
  const who = (what: string): string =>
    worker ? `End your turn: a person's ${what} is waited for. They type:` : `Waits for your ${what}.`;
  if (status.status === 'cancelled') return { say: 'The run was cancelled.', type: [] };
  if (worker && (status.status === 'complete' || status.status === 'failed'))
    return { say: `Nothing: the run is ${status.status}.`, type: [] };
  if (status.status === 'complete' || status.status === 'failed')
    return {
      say: 'Nothing, unless you go back to a step:',
      type: [`stepfast rewind <step> --run ${suffixOf(status.run)}`],
    };
  if (status.checking) return { say: 'The gates are running.', type: [`stepfast status --wait${which}`] };
  switch (status.waiting?.for) {
    case 'review':
      return status.waiting.by === 'human'
        ? {
            say: who('review'),
            type: [`stepfast approve${which}`, `stepfast reject "what is missing"${which}`],
          }
        : {
            say: `Waits for the review of the agent '${status.waiting.by}'.`,
            type: [`stepfast review approve${at} --as ${status.waiting.by}`],
          };
    case 'question':
      return { say: who('answer'), type: [`stepfast answer "your words"${which}`] };
    case 'budget':
      return {
        say: who('decision'),
        type: [
          `stepfast review approve --${amountIn(status.waiting.what)} 20${which}`,
          `stepfast review abandon${which}`,
        ],
      };
    case 'blocked':
      return {
        say: who('decision'),
        type: [`stepfast reject "what to do differently"${which}`, `stepfast rewind <step>${which}`],
      };
  }
  if (status.at === undefined) return withTasks(status, which, worker);
  if (status.contextAction)
    return {
      say: worker
        ? `Run ${status.contextAction}, then ask again.`
        : `The agent's ${status.contextAction} comes first.`,
      type: [`stepfast status --at ${status.at}`],
    };
  if (status.next.startsWith('Set the tasks')) {
    const type = [`stepfast tasks ${status.step} "first task" "second task"${which}`];
    return { say: worker ? 'Give the loop its tasks.' : 'The agent gives the loop its tasks.', type };
  }
  const red = (status.failed_gates?.length ?? 0) > 0;
  const [yours, theirs] = red
    ? ['Mend it, then:', 'The agent mends it.']
    : ['Do what the instructions say, then:', 'The agent is at work.'];
  const type = [`stepfast advance --at ${status.at} --output "what was done"`];
  return { say: worker ? yours : theirs, type };
}

function withTasks({ ready, held, status }: Status, which: string, worker: boolean): Next {
  const as = worker ? ' --as <name>' : '';
  if (ready?.length)
    return { say: `May be claimed: ${ready.join(', ')}.`, type: [`stepfast claim${as}${which}`] };
  const stuck = held?.find(({ waiting }) => waiting !== undefined);
  if (status === 'waiting' && stuck) {
    const at = stuck.at === undefined ? '' : ` --at ${stuck.at}`;
    return { say: `${stuck.task} waits for you: ${stuck.waiting}.`, type: [`stepfast review approve${at}`] };
  }
  return { say: 'No further task can be claimed now.', type: [`stepfast status${which}`] };
}

const amountIn = (what: string): string => /^the (turns|tokens|minutes) /.exec(what)?.[1] ?? 'turns';
