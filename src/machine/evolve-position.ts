import type { Definition, EventOf, Owner } from '../schema/index.ts';
import { nothingSpent } from './budget-use.ts';
import type { Draft } from './draft.ts';
import { cursorKey, type Position, pathOf } from './handle.ts';
import { own, put, without } from './own-property.ts';
import { samePrincipal } from './ownership.ts';
import type { Cursor } from './state.ts';
import { awaitsTasks, isRunStep, loopIdOf, parallelOf, stepOf, workAt } from './steps.ts';

export function enter(definition: Definition, draft: Draft, event: EventOf<'position.entered'>): void {
  const { type: _, now, why, context, lease, preparing, session, ...position } = event;
  const path = pathOf(position);
  draft.edit('visits')[path] = position.visit;
  const cursor: Cursor = { ...position, path, enteredAt: now, reds: 0, checks: 0, stops: 0 };
  if (context) cursor.boundary = { action: context, state: 'pending' };
  if (lease) {
    cursor.lease = lease;
    cursor.slot = slotFor(draft, cursorKey(position));
    const { merges } = draft.root;
    if (merges) draft.root.merges = without(merges, (task) => task === position.task);
    const loop = loopIdOf(stepOf(definition, position.step));
    draft.editTask(loop, position.task ?? '', (task) => ({ ...task, epoch: lease.epoch }));
  }
  if (preparing)
    cursor.preparing = {
      kind: preparing,
      ...(session === undefined ? {} : { session }),
      ...(why === 'claim' && { claimed: true as const }),
    };
  draft.edit('cursors')[cursorKey(position)] = cursor;
  if (!preparing || preparing === 'baseline') takeArrival(definition, draft, position);
}

/** The gates ran before the work: that is no attempt, whatever they said. */
export function withBaseline(
  { preparing: _, ...cursor }: Cursor,
  { receipts }: EventOf<'gates.finished'>,
): Cursor {
  const decided = receipts.filter(({ undecided }) => !undecided);
  const baseline = decided.map(({ what, pass, exit, reportedBy }) => ({
    what,
    pass,
    ...(exit !== undefined && { exit }),
    ...(reportedBy && { reportedBy }),
  }));
  return { ...cursor, baseline };
}

export function addAuthor(draft: Draft, at: string, author: Owner | undefined): void {
  if (!author) return;
  const key = cursorKey(draft.cursorAt(at));
  const authors = { ...draft.root.authors };
  const known = own(authors, key) ?? [];
  if (known.some((each) => samePrincipal(each, author))) return;
  put(authors, key, [...known, author]);
  draft.root.authors = authors;
}

/** The lowest free number; a task keeps its own while it is held. */
function slotFor({ root }: Draft, key: string): number {
  const known = own(root.cursors, key)?.slot;
  const taken = new Set(Object.values(root.cursors).map(({ slot }) => slot));
  let free = 0;
  while (taken.has(free)) free += 1;
  return known ?? free;
}

/** In a parallel loop every agent takes the arrival action itself. */
export function takeArrival(definition: Definition, { root }: Draft, position: Position): void {
  if (awaitsTasks(definition, position) || parallelOf(stepOf(definition, position.step)) > 1) return;
  if (isRunStep(workAt(definition, position))) return;
  delete root.arrival;
  delete root.arrivalForced;
}

export function arrive(
  { root }: Draft,
  { step, context, forced }: EventOf<'step.entered' | 'step.preparing'>,
): void {
  root.step = step;
  root.cursors = {};
  root.budget = nothingSpent;
  delete root.blocked;
  delete root.merges;
  delete root.held;
  delete root.arrival;
  delete root.arrivalForced;
  if (context) root.arrival = context;
  if (forced) root.arrivalForced = true;
}

export function skip(
  { root }: Draft,
  key: string,
  { now, values }: EventOf<'step.skipped' | 'position.skipped'>,
): void {
  const skipped = { ...root.skipped };
  put(skipped, key, { now, values });
  root.skipped = skipped;
}
