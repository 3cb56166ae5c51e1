import {
  type Cursor,
  type Definition,
  ended,
  gateText,
  queuedMerges,
  type RunStatus,
  type State,
  stepOf,
  taskListOf,
  tasksIn,
} from '../../machine/index.ts';
import { type Activity, nowText } from '../../messages/index.ts';
import type { Loaded } from '../../store/index.ts';
import { findNeeds, line, type Need, needsFreshContext } from './find-needs.ts';
import { positionText } from './position-text.ts';
import { positionTitle } from './position-title.ts';

/** What a list shows of a run: some hundred bytes, however large its state is. */
export interface RunSummary {
  run: string;
  workflow: string;
  summary?: string | undefined;
  status: RunStatus;
  tone: Tone;
  /** One sentence: what happens now, or how the run ended. */
  now: string;
  /** Where it stands, in a few words; absent from summaries that an earlier version stored. */
  position?: string;
  /** What waits for a person, the longest wait first. */
  needs: Need[];
  step: { id: string; title: string; index: number; total: number };
  /** Of the current loop. */
  tasks?: { done: number; total: number };
  /** Gates of completed work; red ones are of open positions. */
  gates: { green: number; red: number };
  /** Sessions that are open. */
  sessions: number;
  createdAt: number;
  updatedAt: number;
}

/** `person`: it waits for one; `red`: an agent has to fix gates. */
export type Tone = 'working' | 'person' | 'red' | 'complete' | 'failed' | 'cancelled';

export function summarizeRun({ run, definition, state }: Loaded): RunSummary {
  const { workflow, summary, status, createdAt, updatedAt } = state;
  const needs = findNeeds(definition, state);
  const cursors = Object.values(state.cursors);
  const red = cursors.flatMap(({ receipts = [] }) => receipts.filter(({ pass }) => !pass));
  const index = definition.steps.findIndex(({ id }) => id === state.step);
  const list = taskListOf(state, stepOf(definition, state.step));
  const tasks = list && tasksIn(list).filter(({ end }) => end !== 'dropped');
  return {
    run,
    workflow,
    summary,
    status,
    tone: toneOf(state, needs, red.length),
    now: nowText(activityIn(definition, state, needs)),
    position: positionText(state),
    needs,
    step: {
      id: state.step,
      title: positionTitle(definition, state, { step: state.step }),
      index: index + 1,
      total: definition.steps.length,
    },
    ...(tasks
      ? { tasks: { done: tasks.filter(({ end }) => end === 'done').length, total: tasks.length } }
      : {}),
    gates: {
      green: Object.values(state.outputs).flatMap(({ receipts }) => receipts.filter(({ pass }) => pass))
        .length,
      red: red.length,
    },
    sessions: Object.values(state.sessions).filter(({ endedAt }) => endedAt === undefined).length,
    createdAt,
    updatedAt,
  };
}

function toneOf({ status }: State, needs: readonly Need[], red: number): Tone {
  if (status === 'complete' || status === 'failed' || status === 'cancelled') return status;
  if (needs.length > 0) return 'person';
  return red > 0 ? 'red' : 'working';
}

function activityIn(definition: Definition, state: State, [need]: readonly Need[]): Activity {
  const { status, reason, step } = state;
  if (ended(state)) return { is: 'ended', status, reason: reason === undefined ? undefined : line(reason) };
  const at = positionTitle(definition, state, { step });
  // A review by an agent is work, too.
  const working = Object.values(state.cursors).filter((cursor) => {
    const { waiting } = cursor;
    if (waiting) return waiting.kind === 'review' && waiting.by !== 'human';
    return !needsFreshContext(state, cursor);
  });
  // What still moves says more than what waits, which is listed anyway.
  if (need && working.length === 0) return { is: 'waiting', kind: need.kind, title: need.title };
  const [merging] = queuedMerges(state);
  const [only] = working;
  if (working.length > 1) return { is: 'tasks', title: at, count: working.length };
  if (!only && merging)
    return { is: 'merging', title: positionTitle(definition, state, { step, task: merging[0] }) };
  if (!only) return { is: 'idle', title: at };
  return positionActivity(positionTitle(definition, state, only), only);
}

function positionActivity(title: string, { checking, preparing, waiting, receipts = [] }: Cursor): Activity {
  if (checking) return { is: 'checking', title, gates: checking.gates.map(({ gate }) => gateText(gate)) };
  if (preparing) return { is: 'preparing', title };
  if (waiting?.kind === 'review') return { is: 'reviewed', title, by: waiting.by };
  const red = receipts.filter(({ pass }) => !pass).map(({ what }) => what);
  return red.length > 0 ? { is: 'fixing', title, gates: red } : { is: 'working', title };
}
