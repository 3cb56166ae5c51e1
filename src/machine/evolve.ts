import type { Definition, Event } from '../schema/index.ts';
import { usedUp } from './budget-use.ts';
import { Draft } from './draft.ts';
import { applyBudget, escalateBudget } from './evolve-budget.ts';
import { applyDriver, applyMerge } from './evolve-driver.ts';
import { addAuthor, arrive, enter, skip, takeArrival, withBaseline } from './evolve-position.ts';
import { addNote, forgetLoads, load } from './evolve-records.ts';
import { outputKey } from './handle.ts';
import { importWorkflowState } from './import.ts';
import { initialState } from './initial-state.ts';
import { own, put, without } from './own-property.ts';
import { ended, isWithin, type State } from './state.ts';
import { firstReady, isAtLoop, isMerging, parallelOf, stepOf } from './steps.ts';
import { dropTasks, voidFrom } from './void-work.ts';

/**
 * Folds one event into a state. `state` is null only for the first event of a run.
 *
 * @example
 * ```ts
 * import { type Event, evolve, type State, type WorkflowTemplate } from 'stepfast';
 *
 * const next = (workflow: WorkflowTemplate, state: State, event: Event): State => evolve(workflow, state, event);
 * ```
 */
export const evolve = (definition: Definition, state: State | null, event: Event): State =>
  replay(definition, state, [event]);

/**
 * Folds a list of events into a state. Each container of the state is copied at most once.
 *
 * @example
 * ```ts
 * import { type Event, replay, type WorkflowTemplate } from 'stepfast';
 *
 * const statusAfter = (workflow: WorkflowTemplate, events: Event[]): string => replay(workflow, null, events).status;
 * ```
 */
export function replay(definition: Definition, state: State | null, events: readonly Event[]): State {
  if (state !== null && events.length === 0) return state;
  const draft = new Draft(state);
  for (const event of events) apply(definition, draft, event);
  return settled(definition, draft, events.at(-1)?.now ?? 0);
}

/** Computes the derived fields and returns the state. */
export function settled(definition: Definition, draft: Draft, now: number): State {
  draft.root.updatedAt = now;
  draft.root.status = statusOf(definition, draft.root);
  return draft.root;
}

function statusOf(definition: Definition, state: State): State['status'] {
  if (ended(state)) return state.status;
  if (state.blocked !== undefined || usedUp(state)) return 'waiting';
  const cursors = Object.values(state.cursors);
  if (cursors.some((cursor) => cursor.waiting === undefined)) return 'running';
  if (!state.held && isMerging(state)) return 'running';
  const step = stepOf(definition, state.step);
  const claimable = cursors.length < parallelOf(step) && firstReady(state, step) !== undefined;
  return claimable ? 'running' : 'waiting';
}

/** Changes the draft; `settled` turns it into a state. */
export function apply(definition: Definition, draft: Draft, event: Event): void {
  switch (event.type) {
    case 'run.started':
      draft.root = initialState(definition, event);
      return;
    case 'run.adopted':
      draft.root.adopted = event.adopted;
      return;
    case 'run.imported':
      draft.root = importWorkflowState(definition, draft.root, event.state, event.now);
      return;
    case 'run.completed':
      return end(definition, draft, event, 'complete');
    case 'run.failed':
      return end(definition, draft, event, 'failed', event.reason);
    case 'run.cancelled':
      return end(definition, draft, event, 'cancelled', event.reason);
    case 'cleanup.started':
      draft.root.cleanup = {
        endedAt: draft.root.cleanup?.endedAt ?? event.now,
        state: 'started',
        ...(event.runner && { runner: event.runner }),
      };
      return;
    case 'cleanup.finished': {
      const { type: _type, now: _now, ...result } = event;
      const { cleanup } = draft.root;
      if (cleanup) draft.root.cleanup = { ...cleanup, done: [...(cleanup.done ?? []), result] };
      return;
    }
    case 'run.blocked':
      draft.root.blocked = event.reason;
      return;
    case 'run.rewound':
      return voidFrom(definition, draft, event.to);
    case 'run.pivoted': {
      const { type: _, ...pivot } = event;
      draft.edit('pivots').push(pivot);
      voidFrom(definition, draft, event.to);
      return dropTasks(definition, draft, event.to);
    }
    case 'run.paused':
    case 'run.unpaused':
    case 'driver.taken':
    case 'driver.renewed':
    case 'driver.released':
      return applyDriver(draft, event);
    case 'merge.queued':
    case 'merge.started':
    case 'merge.finished':
    case 'merge.failed':
    case 'merge.parked':
    case 'merge.retried':
    case 'queue.held':
    case 'queue.resumed':
      return applyMerge(definition, draft, event);
    case 'step.entered': {
      const state = draft.root;
      state.entered = state.entered
        ? { count: state.entered.count + 1, from: state.entered.step ?? state.step }
        : { count: 1 };
      return arrive(draft, event);
    }
    case 'step.preparing': {
      const state = draft.root;
      if (state.entered) state.entered = { ...state.entered, step: state.entered.step ?? state.step };
      return arrive(draft, event);
    }
    case 'step.skipped':
      draft.root.cursors = {};
      return skip(draft, event.step, event);
    case 'step.completed':
      return draft.editSession(event.session, (session) => ({
        ...session,
        completed: [...session.completed, event.step],
      }));
    case 'position.entered':
      return enter(definition, draft, event);
    case 'position.prepared':
      draft.editCursor(event.at, ({ preparing: _, ...cursor }) => ({
        ...cursor,
        ...(event.then && { preparing: { kind: event.then } }),
        ...(event.context && { boundary: { action: event.context, state: 'pending' as const } }),
      }));
      return takeArrival(definition, draft, draft.cursorAt(event.at));
    case 'position.skipped':
      return skip(draft, outputKey(draft.cursorAt(event.at).path), event);
    case 'position.completed': {
      const { type: _, at, output, session, author, ...rest } = event;
      const key = outputKey(draft.cursorAt(at).path);
      addAuthor(draft, at, author);
      draft.edit('outputs')[key] = { ...rest, text: output, at };
      draft.root.last = {
        kind: 'advance',
        key,
        now: event.now,
        ...(session === undefined ? {} : { session }),
      };
      return draft.editCursor(at, (cursor) => {
        const { checking: _checking, waiting: _waiting, output: _output, ...open } = cursor;
        return open;
      });
    }
    case 'position.failed': {
      const { now, reason, session } = event;
      draft.root.last = { kind: 'fail', reason, now, ...(session === undefined ? {} : { session }) };
      return draft.editCursor(event.at, (cursor) => ({ ...cursor, failures: cursor.failures + 1 }));
    }
    case 'position.blocked':
      return draft.editCursor(event.at, (cursor) => ({
        ...cursor,
        waiting: { kind: 'blocked', reason: event.reason, since: event.now },
      }));
    case 'tasks.set':
      draft.edit('tasks')[event.loop] = {
        order: event.tasks.map((task) => task.id),
        byId: Object.fromEntries(event.tasks.map((task) => [task.id, task])),
        ...(event.reportedBy && { reportedBy: event.reportedBy }),
      };
      if (!isAtLoop(definition, draft.root, event.loop)) return;
      if (own(draft.root.cursors, draft.root.step)?.preparing?.kind === 'when') return;
      delete draft.root.blocked;
      // The position that waited for the tasks closes.
      delete draft.edit('cursors')[draft.root.step];
      return;
    case 'task.ended': {
      draft.editTask(event.loop, event.task, (task) => ({
        ...task,
        end: event.end,
        ...(event.at === undefined ? {} : { endedAt: event.at }),
      }));
      delete draft.edit('cursors')[`${draft.root.step}/${event.task}`];
      return;
    }
    case 'task.dropped': {
      const { loop, task: id, reason } = event;
      draft.editTask(loop, id, (task) => ({ ...task, end: 'dropped', reason }));
      if (!isAtLoop(definition, draft.root, loop)) return;
      delete draft.edit('cursors')[`${draft.root.step}/${id}`];
      const { merges } = draft.root;
      if (merges) draft.root.merges = without(merges, (each) => each === id);
      return;
    }
    case 'lease.renewed':
      return draft.editCursor(event.at, (cursor) =>
        cursor.lease ? { ...cursor, lease: { ...cursor.lease, expires: event.expires } } : cursor,
      );
    case 'gates.requested': {
      const { type: _, now: _now, at, ...checking } = event;
      return draft.editCursor(at, (cursor) => ({ ...cursor, checking, checks: cursor.checks + 1 }));
    }
    case 'gates.started': {
      const { type: _, now: _now, ...started } = event;
      return draft.editChecking(event.id, (cursor, checking) => ({
        ...cursor,
        checking: { ...checking, ...started },
      }));
    }
    case 'gates.finished':
      return draft.editChecking(
        event.id,
        ({ checking: _, waiting: _w, unstable: _files, ...cursor }, { onPass, attempt }) => {
          if (cursor.preparing) return withBaseline(cursor, event);
          return {
            ...cursor,
            reds: cursor.reds + (event.pass || (onPass && !attempt) ? 0 : 1),
            receipts: event.receipts,
            ...(event.unstable === undefined ? {} : { unstable: event.unstable }),
            ...(onPass && {
              checked: { pass: event.pass, ...(event.tree !== undefined && { tree: event.tree }) },
            }),
          };
        },
      );
    case 'gates.interrupted':
      return draft.editChecking(event.id, ({ checking: _, ...cursor }, { session }) =>
        // They run again, where they would have run now.
        cursor.preparing && session !== undefined
          ? { ...cursor, preparing: { ...cursor.preparing, session } }
          : cursor,
      );
    case 'review.requested':
      addAuthor(draft, event.at, event.author);
      return draft.editCursor(event.at, (cursor) => ({
        ...cursor,
        output: event.output,
        receipts: event.receipts,
        waiting: {
          kind: 'review',
          by: event.by,
          since: event.now,
          ...(event.tree === undefined ? {} : { tree: event.tree }),
          ...(event.session === undefined ? {} : { session: event.session }),
          ...(event.author && { author: event.author }),
          ...(event.exhausted && { exhausted: event.exhausted }),
        },
      }));
    case 'review.decided':
      if (event.verdict !== 'escalate') return;
      if (event.at === undefined) return escalateBudget(draft, event.feedback ?? '');
      return draft.editCursor(event.at, (cursor) =>
        cursor.waiting?.kind === 'review'
          ? { ...cursor, waiting: { ...cursor.waiting, by: 'human', escalated: event.feedback ?? '' } }
          : cursor,
      );
    case 'budget.spent':
    case 'budget.exhausted':
    case 'budget.extended':
      return applyBudget(definition, draft, event);
    case 'question.asked': {
      const { id, at, text } = event;
      draft.edit('questions').push({ id, at, text });
      return draft.editCursor(at, (cursor) => ({
        ...cursor,
        waiting: { kind: 'question', id, since: event.now },
      }));
    }
    case 'question.answered': {
      draft.root.questions = draft.root.questions.map((question) =>
        question.id === event.id ? { ...question, answer: event.answer } : question,
      );
      for (const [key, cursor] of Object.entries(draft.root.cursors)) {
        if (cursor.waiting?.kind !== 'question' || cursor.waiting.id !== event.id) continue;
        const { waiting: _, ...open } = cursor;
        draft.edit('cursors')[key] = open;
      }
      return;
    }
    case 'note.added':
      return addNote(draft, event);
    case 'todo.replaced':
      draft.root.todo = event.content;
      return;
    case 'file.read':
      put(draft.edit('reading'), event.path, {
        hash: event.hash,
        now: event.now,
        ...(event.session === undefined ? {} : { session: event.session }),
      });
      return;
    case 'artifacts.loaded':
      return load(draft, event);
    case 'boundary.requested':
      draft.root.boundaryCount += 1;
      return draft.editBoundary(event.at, (boundary) => ({
        ...boundary,
        state: 'requested',
        policy: event.policy,
        ...(event.session === undefined ? {} : { session: event.session }),
      }));
    case 'boundary.reset':
      return draft.editBoundary(event.at, ({ session: asked, ...boundary }) => {
        // A subagent without an id cannot be told apart from the caller.
        const session = event.session ?? (event.by === 'subagent' ? undefined : asked);
        return { ...boundary, by: event.by, ...(session === undefined ? {} : { session }) };
      });
    case 'boundary.released':
      return draft.editBoundary(event.at, (boundary) => ({
        ...boundary,
        state: 'released',
        how: event.how,
      }));
    case 'briefing.delivered':
      put(draft.edit('briefings'), event.session, {
        id: event.briefing,
        proven: event.proven,
        now: event.now,
      });
      return;
    case 'compaction.recorded':
      // Only for the log.
      return;
    case 'session.started': {
      const { type: _, now, session, ...rest } = event;
      const known = own(draft.root.sessions, session);
      const { endedAt: _ended, ...live } = known ?? { startedAt: now, completed: [], resets: 0 };
      put(draft.edit('sessions'), session, { ...live, ...rest });
      if (rest.from !== undefined) {
        inherit(draft, rest.from, session);
        forgetLoads(draft, rest.from);
      }
      return;
    }
    case 'session.ended':
      forgetLoads(draft, event.session);
      return draft.editSession(event.session, (session) => ({ ...session, endedAt: event.now }));
    case 'session.reset':
      forgetLoads(draft, event.session);
      return draft.editSession(event.session, (session) => ({
        ...session,
        resets: session.resets + 1,
        resetAt: event.now,
        ...(event.saw === 'compact' ? {} : { clearedAt: event.now }),
      }));
    case 'stop.held':
      return draft.editCursor(event.at, (cursor) => ({ ...cursor, stops: cursor.stops + 1 }));
  }
}

function end(
  definition: Definition,
  draft: Draft,
  { now }: Event,
  status: State['status'],
  reason?: string,
): void {
  if (definition.finally) draft.root.cleanup = { state: 'pending', endedAt: now };
  draft.root.status = status;
  draft.root.cursors = {};
  delete draft.root.blocked;
  if (reason !== undefined) draft.root.reason = reason;
}

/** A session replaces another one and takes over its tasks and open boundaries. */
function inherit(draft: Draft, from: string, session: string): void {
  for (const [key, cursor] of Object.entries(draft.root.cursors)) {
    const { lease, boundary } = cursor;
    draft.edit('cursors')[key] = {
      ...cursor,
      ...(lease?.holder === from ? { lease: { ...lease, holder: session } } : {}),
      ...(boundary && isWithin(boundary.session, from) ? { boundary: { ...boundary, session } } : {}),
    };
  }
}
