/** What a session still does for a turn that has its answer. */
import { numberIn, type Payload, partIn, textIn } from '../../payload.ts';
import { listIn } from './stream.ts';

/** A subagent in the background belongs to the turn; a server that a shell started may never end. */
export const agentWaitMs = 10 * 60_000;
export const shellWaitMs = 60_000;
/** Until a turn that the host owes has begun. Bounded: a task that was ended otherwise is not always followed by one. */
export const startWaitMs = 30_000;

export interface Background {
  read(line: Payload): void;
  /** A new prompt: what earlier ones have left is not waited for. */
  startTurn(): void;
  isIdle(): boolean;
  /** How long to wait for the next line. */
  waitMs(): number;
}

export function createBackground(): Background {
  /** Ended tasks that the model has not heard of: each gets a turn of its own, which `queued_turn_count` leaves out. */
  const unheard = new Set<string>();
  let tasks: Payload[] = [];
  let queued = 0;
  let working = false;

  return {
    read: (line) => {
      if (line.subtype === 'init') working = true;
      if (line.subtype === 'background_tasks_changed') tasks = listIn(line, 'tasks');
      const ended = line.subtype === 'task_notification' ? textIn(line, 'run_id') : undefined;
      if (ended !== undefined) unheard.add(ended);
      // The request that takes these results to the model takes the notifications, too.
      if (isToolResult(line)) unheard.clear();
      if (line.type !== 'result') return;
      working = false;
      queued = numberIn(line, 'queued_turn_count') ?? 0;
      unheard.delete(textIn(partIn(line, 'origin'), 'runId') ?? '');
    },
    startTurn: () => unheard.clear(),
    isIdle: () => tasks.length === 0 && unheard.size === 0 && queued === 0,
    waitMs: () => {
      if (working) return agentWaitMs;
      if (tasks.length === 0) return startWaitMs;
      return tasks.every(({ task_type }) => task_type === 'local_bash') ? shellWaitMs : agentWaitMs;
    },
  };
}

const isToolResult = (line: Payload): boolean =>
  line.type === 'user' &&
  textIn(line, 'parent_tool_use_id') === undefined &&
  listIn(partIn(line, 'message'), 'content').some(({ type }) => type === 'tool_result');
