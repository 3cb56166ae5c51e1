import { awaitsTasks, type Cursor, handleOf, isRunStep, stepOf, usedUp, workAt } from '../machine/index.ts';
import { noProgressText } from '../messages/index.ts';
import { isRefused } from '../runtime/index.ts';
import type { Loaded } from '../store/index.ts';
import { waitForService } from './model-service.ts';
import { watchProgress } from './no-progress.ts';
import type { SessionReason } from './progress.ts';
import { briefingPrompt, continuingPrompt } from './prompts.ts';
import { openStretch, type Stretch } from './stretch.ts';
import { type Turn, takeTurn, tellSpending } from './turn.ts';
import { type DriverContext, engine, isPaused, load, pauseFor } from './worker-context.ts';

export interface WorkerOptions {
  /** For the screen: the task, or `main`. */
  name: string;
  /** The position that this worker is responsible for, if there is one now. */
  find(view: Loaded): Cursor | undefined;
  worktree: string;
  /** Pauses the run if it has had all the turns or the time that a run without a budget has. */
  reachesBound(view: Loaded): Promise<boolean>;
  /** Called after each turn: commits what the session left. Returns why a person must look first. */
  afterTurn(cursor: Cursor | undefined): Promise<string | undefined>;
}

/** How long one call waits for gates. They end by themselves, and the worker looks again. */
const gatesMs = 10 * 60_000;

/** Works on one position after the other, until none is left that needs neither a person nor another worker. */
export async function work(context: DriverContext, options: WorkerOptions): Promise<void> {
  const { runtime, run, report, signal } = context;
  const { name, find, worktree } = options;
  const progress = watchProgress(context);
  let stretch: Stretch | undefined;
  /** Why the next session is opened. */
  let why: SessionReason = 'start';
  let from: string | undefined;
  let failures = 0;
  try {
    while (!signal.aborted) {
      const view = await load(context);
      const cursor = find(view);
      if (!cursor || !isActionable(view, cursor)) return;
      const at = handleOf(view.state, cursor);
      if (cursor.checking || cursor.preparing || isRunStep(workAt(view.definition, cursor))) {
        await settle(cursor, at);
        continue;
      }
      if (isPaused(view.state) || (await options.reachesBound(view))) return;
      if (cursor.waiting?.kind === 'review') {
        await replace('review');
        await review(view, cursor);
        continue;
      }
      if (await passBoundary(view, cursor)) continue;
      if (stretch && stretch.agent !== agentAt(view, cursor)) await replace('clear');
      await oneTurn(await opened(view, cursor), await load(context), at);
    }
  } finally {
    await stretch?.end(signal.aborted ? 0 : undefined);
  }

  /** The session, which takes over what its predecessor held, also that of a driver before this one. */
  async function opened(view: Loaded, cursor: Cursor): Promise<Stretch> {
    const agent = agentAt(view, cursor);
    const before = from ?? cursor.lease?.holder;
    stretch ??= await openStretch(context, { worker: name, agent, cursor, worktree, why, from: before });
    return stretch;
  }

  /** Ends the session; the next one takes its place. */
  async function replace(reason: SessionReason): Promise<void> {
    if (!stretch) return;
    from = stretch.session;
    why = reason;
    const ending = stretch;
    stretch = undefined;
    await ending.end();
  }

  /** Waits until gates have ended, tasks are read, or a command of the engine has run. */
  async function settle(cursor: Cursor, at: string): Promise<void> {
    if (cursor.checking) report({ type: 'checking', worker: name, at });
    const session = stretch?.session;
    await runtime.call(
      { type: 'status', at },
      { ...engine, ...(session === undefined ? {} : { session }) },
      { run, waitMs: gatesMs },
    );
  }

  /** Performs the context action that the position asks for; true if something was done. */
  async function passBoundary(view: Loaded, cursor: Cursor): Promise<boolean> {
    const { boundary } = cursor;
    if (!boundary || boundary.state === 'released') return false;
    const at = handleOf(view.state, cursor);
    if (view.state.boundaries === 'off') {
      // To ask for the position is to pass it.
      const { session } = await opened(view, cursor);
      await runtime.call({ type: 'status', at }, { session }, { run });
      return true;
    }
    const current = stretch;
    const compacts = boundary.action === 'compact' && current !== undefined && !current.isFresh;
    const isCompacted = compacts && (await current.compact());
    if (isCompacted) current.isCompacted = true;
    else if (!current?.isFresh) await replace(compacts ? 'compact_failed' : 'clear');
    const { session } = await opened(view, cursor);
    await runtime.call(
      { type: 'boundary', by: 'driver', saw: isCompacted ? 'compact' : 'new', at },
      { session },
      { run },
    );
    const how = isCompacted ? 'compacted' : 'new_session';
    report({ type: 'boundary', worker: name, context: boundary.action, how });
    return true;
  }

  async function oneTurn(current: Stretch, view: Loaded, at: string): Promise<void> {
    const cursor = find(view);
    if (!cursor || handleOf(view.state, cursor) !== at) return;
    const turn = await prompted(current, view, cursor);
    if (turn.failure?.kind === 'model_service') {
      failures += 1;
      await waitForService(context, { worker: name, failure: turn.failure, failures });
      return;
    }
    failures = 0;
    await checkAfter(cursor, at, turn, current.session);
    await tellSpending(context, current, at, turn);
    const after = await load(context);
    const now = find(after);
    const held = await options.afterTurn(now);
    const next = now ? handleOf(after.state, now) : undefined;
    // At the same position the agent may still put it right.
    if (held !== undefined && next === undefined) await pauseFor(context, held);
    else if (held !== undefined && next !== undefined && next !== at) await block(next, held);
    if (turn.lost || turn.failure) await replace(turn.failure?.kind === 'exit' ? 'ended' : 'no_progress');
    if (!now || !isActionable(after, now) || now.waiting) return;
    // The turn that led to this position was none of it.
    if (next !== at) return;
    const verdict = await progress.after(after, now, worktree);
    if (verdict === 'person') await block(at, noProgressText);
    else if (verdict === 'fresh_session') await replace('no_progress');
  }

  async function prompted(current: Stretch, view: Loaded, cursor: Cursor): Promise<Turn> {
    const at = handleOf(view.state, cursor);
    const isBriefed = !current.isFresh && !current.isCompacted;
    const prompt = isBriefed
      ? continuingPrompt(context, view, cursor, current.session)
      : await briefingPrompt(context, view, cursor, current.session);
    current.isFresh = false;
    current.isCompacted = false;
    report({ type: 'turn', worker: name, at, title: titleAt(view, cursor) });
    const turn = await takeTurn(context, current, { worker: name, at, prompt: prompt.text });
    if (prompt.briefing !== undefined && !turn.failure)
      await runtime.call(
        { type: 'session', event: { type: 'delivered', briefing: prompt.briefing, proven: 'transcript' } },
        { session: current.session },
        { run },
      );
    // A prompt that the service refused was not answered: the next one says it all again.
    if (turn.failure?.kind === 'model_service' && prompt.briefing !== undefined) current.isFresh = true;
    return turn;
  }

  /** The end of a turn is a claim: the gates decide. Those that the agent's own call has run in this turn do not run again. */
  async function checkAfter(before: Cursor, at: string, turn: Turn, session: string): Promise<void> {
    const view = await load(context);
    const cursor = find(view);
    if (!cursor || handleOf(view.state, cursor) !== at || cursor.waiting || usedUp(view.state)) return;
    if (cursor.reds > before.reds || turn.lost || turn.failure || turn.interrupted) return;
    if (awaitsTasks(view.definition, cursor)) return;
    report({ type: 'checking', worker: name, at });
    await runtime.call(
      { type: 'check', at, output: turn.lastMessage, attempt: true },
      { session },
      { run, waitMs: gatesMs },
    );
  }

  /** A session of the reviewing agent gives a verdict, or the review goes to a person. */
  async function review(view: Loaded, cursor: Cursor): Promise<void> {
    const { waiting } = cursor;
    if (waiting?.kind !== 'review') return;
    const at = handleOf(view.state, cursor);
    const reviewer = await openStretch(context, {
      worker: name,
      agent: waiting.by,
      cursor,
      worktree,
      why: 'review',
    });
    try {
      for (let round = 0; round < 2; round += 1) {
        const turn = await prompted(reviewer, await load(context), cursor);
        await tellSpending(context, reviewer, at, turn);
        if (turn.failure?.kind === 'model_service') {
          failures += 1;
          await waitForService(context, { worker: name, failure: turn.failure, failures });
          return;
        }
        const now = find(await load(context));
        if (now?.waiting?.kind !== 'review' || now.waiting.by !== waiting.by) return;
      }
      const feedback = `'${waiting.by}' gave no verdict`;
      const { reply } = await runtime.call(
        { type: 'review', verdict: 'escalate', feedback, at },
        { session: reviewer.session },
        { run },
      );
      if (isRefused(reply)) await block(at, feedback);
    } finally {
      await reviewer.end();
    }
  }

  async function block(at: string, reason: string): Promise<void> {
    await runtime.call({ type: 'block', at, reason }, engine, { run });
  }
}

/** Something can be done here without a person. */
export function isActionable({ state }: Loaded, { waiting }: Cursor): boolean {
  if (usedUp(state) || state.blocked !== undefined) return false;
  return !waiting || (waiting.kind === 'review' && waiting.by !== 'human');
}

const agentAt = ({ definition }: Loaded, cursor: Cursor): string | undefined =>
  workAt(definition, cursor).agent ?? stepOf(definition, cursor.step).agent;

function titleAt({ definition }: Loaded, cursor: Cursor): string {
  const { title, id } = workAt(definition, cursor);
  const task = cursor.task === undefined ? '' : `${cursor.task}: `;
  return `${task}${title ?? id}`;
}
