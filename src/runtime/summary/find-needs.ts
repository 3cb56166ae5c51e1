import {
  allUsedUp,
  budgetPivotTarget,
  type Cursor,
  type Definition,
  ended,
  handleOf,
  opening,
  type State,
  type UsedUp,
} from '../../machine/index.ts';
import { type NeedKind, usedUpText } from '../../messages/index.ts';
import { positionTitle } from './position-title.ts';

/** What only a person can do. `at` is the position that it is about, if it is about one. */
export interface Need {
  kind: NeedKind;
  /** The step or the task that waits, as people know it. */
  title: string;
  /** What is asked, or why it waits: one line. */
  what: string;
  at?: string | undefined;
  task?: string | undefined;
  /** The id of a question. */
  question?: string | undefined;
  /** Of a budget that is used up. */
  unit?: UsedUp['unit'] | undefined;
  /** Steps to which a decision may go back. */
  pivots?: string[] | undefined;
  since: number;
}

const maxText = 200;

/** Everything of a run that waits for a person, the longest wait first. */
export function findNeeds(definition: Definition, state: State): Need[] {
  if (ended(state)) return [];
  const needs = Object.values(state.cursors).flatMap((cursor) => needOf(definition, state, cursor) ?? []);
  const { blocked, held, merges = {}, paused, updatedAt } = state;
  const title = positionTitle(definition, state, { step: state.step });
  for (const used of allUsedUp(state))
    needs.push({
      kind: 'budget',
      title,
      what: usedUpText({ ...used, step: state.step }),
      unit: used.unit,
      pivots: pivotsOf(definition, state.step, budgetPivotTarget(definition, state)),
      since: state.budget.lastAt ?? updatedAt,
    });
  if (blocked !== undefined)
    needs.push({
      kind: 'decision',
      title,
      what: line(blocked),
      pivots: pivotsOf(definition, state.step),
      since: updatedAt,
    });
  if (held) needs.push({ kind: 'queue', title, what: line(held.reason), since: held.since });
  for (const [task, merge] of Object.entries(merges))
    if (merge.state === 'parked')
      needs.push({
        kind: 'merge',
        title: positionTitle(definition, state, { step: state.step, task }),
        what: line(merge.reason ?? ''),
        task,
        since: merge.since,
      });
  if (paused) needs.push({ kind: 'pause', title, what: line(`paused by ${paused.by}`), since: paused.since });
  return needs.sort((a, b) => a.since - b.since);
}

function needOf(definition: Definition, state: State, cursor: Cursor): Need | undefined {
  const { waiting, boundary, output, enteredAt } = cursor;
  const of = { title: positionTitle(definition, state, cursor), at: handleOf(state, cursor) };
  if (waiting?.kind === 'review')
    return waiting.by === 'human'
      ? {
          kind: 'review',
          ...of,
          what: line(output === undefined ? '' : opening(output)),
          since: waiting.since,
        }
      : undefined;
  if (waiting?.kind === 'question') {
    const question = state.questions.find(({ id }) => id === waiting.id);
    return {
      kind: 'question',
      ...of,
      what: line(question?.text ?? ''),
      question: waiting.id,
      since: waiting.since,
    };
  }
  if (waiting)
    return {
      kind: 'decision',
      ...of,
      what: line(waiting.reason),
      pivots: pivotsOf(definition, cursor.step),
      since: waiting.since,
    };
  if (!boundary || !needsFreshContext(state, cursor)) return undefined;
  return { kind: 'context', ...of, what: boundary.action, since: enteredAt };
}

/** A driver makes one by itself. */
export const needsFreshContext = ({ sessions }: State, { boundary }: Cursor): boolean =>
  boundary?.state === 'requested' && sessions[boundary.session ?? '']?.witness !== 'driver';

/** Steps to which a verdict at a step may go back; the target of the workflow is the first choice, then the nearest. */
export function pivotsOf(
  { steps }: Definition,
  step: string,
  target = steps.find(({ id }) => id === step)?.review?.on_pivot,
): string[] {
  const before = steps.slice(
    0,
    steps.findIndex(({ id }) => id === step),
  );
  return [...new Set([...(target === undefined ? [] : [target]), ...before.map(({ id }) => id).reverse()])];
}

/** The first line with text. */
export const line = (text: string): string =>
  (text.split('\n').find((each) => each.trim() !== '') ?? '').trim().slice(0, maxText);
