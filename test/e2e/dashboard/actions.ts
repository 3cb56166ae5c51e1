/** Everything that a person can decide in the dashboard: where, with which controls, and what becomes of the run. */
import type { State } from '../../../src/machine/index.ts';
import type { Situation } from '../../kit/dashboard/situations.ts';

export interface Action {
  does: string;
  in: Situation;
  /** The verb of what needs a person, or an item of the menu of the run. */
  open: { need: RegExp } | { menu: RegExp };
  choose?: string;
  /** Fields by their labels. */
  type?: Record<string, string>;
  select?: Record<string, string>;
  /** The button that sends it. */
  send: RegExp;
  /** What of the state it changes, and to what. */
  of(state: State): unknown;
  becomes: unknown;
}

const words = 'Use cents, not floats';
const feedback = ({ cursors }: State): unknown => Object.values(cursors)[0]?.feedback;
const place = ({ status, step }: State): unknown => ({ status, step });
const end = ({ status, reason }: State): unknown => ({ status, reason });
const merges = ({ merges: all = {}, tasks }: State): unknown => ({
  merge: all.t1?.state,
  end: tasks.build?.byId.t1?.end,
});

const review = { in: 'review', open: { need: /^Review/ } } as const;
const blocked = { in: 'blocked', open: { need: /^Decide/ } } as const;
const budget = { in: 'budget', open: { need: /^Extend|^Decide/ } } as const;
const parked = { in: 'parked', open: { need: /^Decide/ } } as const;
const afterReview = { 'What should change?': words };

export const actions: readonly Action[] = [
  {
    ...review,
    does: 'approves a review',
    send: /^Approve/,
    of: ({ step, outputs }) => ({ step, reviewed: outputs.plan?.reviewed !== undefined }),
    becomes: { step: 'build', reviewed: true },
  },
  {
    ...review,
    does: 'sends work back with words',
    choose: 'Send back',
    type: afterReview,
    send: /^Send back/,
    of: feedback,
    becomes: words,
  },
  {
    ...review,
    does: 'pivots to an earlier step',
    choose: 'Pivot',
    select: { 'Back to': 'think' },
    type: { 'Why go back?': words },
    send: /^Pivot/,
    of: ({ step, pivots }) => ({ step, feedback: pivots.at(-1)?.feedback }),
    becomes: { step: 'think', feedback: words },
  },
  {
    ...review,
    does: 'abandons a run in review',
    choose: 'Abandon',
    type: { 'Why end the run?': words },
    send: /^Abandon/,
    of: end,
    becomes: { status: 'failed', reason: words },
  },
  {
    does: 'answers a question',
    in: 'question',
    open: { need: /^Answer/ },
    type: { 'Your answer': 'Euro' },
    send: /^Answer/,
    of: ({ questions, status }) => ({ answer: questions[0]?.answer, status }),
    becomes: { answer: 'Euro', status: 'running' },
  },
  {
    ...budget,
    does: 'extends a budget that is used up',
    type: { 'Add turns': '5' },
    send: /^Extend/,
    of: ({ budget: { extra }, status }) => ({ extra, status }),
    becomes: { extra: { turns: 5 }, status: 'running' },
  },
  {
    ...budget,
    does: 'pivots at a budget that is used up',
    choose: 'Pivot',
    type: { 'Why go back?': words },
    send: /^Pivot/,
    of: place,
    becomes: { status: 'running', step: 'think' },
  },
  {
    ...budget,
    does: 'abandons at a budget that is used up',
    choose: 'Abandon',
    type: { 'Why end the run?': words },
    send: /^Abandon/,
    of: ({ status }) => status,
    becomes: 'failed',
  },
  {
    does: 'continues without a fresh context',
    in: 'boundary',
    open: { need: /^Continue without/ },
    send: /^Continue without/,
    of: ({ cursors }) => cursors.write?.boundary?.state,
    becomes: 'released',
  },
  {
    ...blocked,
    does: 'sends back what is blocked',
    type: { 'What should the agent know?': words },
    send: /^Send back/,
    of: (state) => ({ feedback: feedback(state), status: state.status }),
    becomes: { feedback: words, status: 'running' },
  },
  {
    ...blocked,
    does: 'pivots from what is blocked',
    choose: 'Pivot',
    select: { 'Back to': 'think' },
    type: { 'What should the agent know?': words },
    send: /^Pivot/,
    of: place,
    becomes: { status: 'running', step: 'think' },
  },
  {
    ...blocked,
    does: 'abandons what is blocked',
    choose: 'Abandon',
    send: /^Abandon/,
    of: ({ status }) => status,
    becomes: 'failed',
  },
  {
    ...parked,
    does: 'merges a task again',
    send: /^Merge again/,
    of: merges,
    becomes: { merge: 'returned', end: undefined },
  },
  {
    ...parked,
    does: 'drops a task that could not be merged',
    choose: 'Drop the task',
    type: { Reason: words },
    send: /^Drop the task/,
    of: merges,
    becomes: { merge: undefined, end: 'dropped' },
  },
  {
    does: 'drops a task from the menu',
    in: 'tasks',
    open: { menu: /^Drop a task/ },
    select: { Task: 't3' },
    type: { Reason: words },
    send: /^Drop the task/,
    of: ({ tasks }) => tasks.build?.byId.t3?.end,
    becomes: 'dropped',
  },
  {
    does: 'pauses a run',
    in: 'working',
    open: { menu: /^Pause/ },
    send: /^Pause/,
    of: ({ paused }) => paused !== undefined,
    becomes: true,
  },
  {
    does: 'lets a paused run continue',
    in: 'paused',
    open: { need: /^Continue/ },
    send: /^Continue/,
    of: ({ paused }) => paused,
    becomes: undefined,
  },
  {
    does: 'rewinds a run',
    in: 'working',
    open: { menu: /^Rewind/ },
    select: { Step: 'think' },
    send: /^Rewind/,
    of: place,
    becomes: { status: 'running', step: 'think' },
  },
  {
    does: 'rewinds a complete run',
    in: 'complete',
    open: { menu: /^Rewind/ },
    select: { Step: 'write' },
    send: /^Rewind/,
    of: place,
    becomes: { status: 'running', step: 'write' },
  },
  {
    does: 'cancels a run with a reason',
    in: 'working',
    open: { menu: /^Cancel the run/ },
    type: { Reason: words },
    send: /^Cancel the run/,
    of: end,
    becomes: { status: 'cancelled', reason: words },
  },
];
