import * as z from 'zod';
import { boundaryPolicies, idPattern } from './definition.ts';
import {
  adopted,
  amount,
  amounts,
  compaction,
  count,
  driverProcess,
  gateResult,
  holdReasons,
  latest,
  noteKindSchema,
  path,
  proofs,
  resetBy,
  runner,
  saw,
  taskFields,
  told,
  verdictSchema,
  witnesses,
  word,
  words,
  workflowStateOf,
} from './parts.ts';
import { ownerSchema } from './principal.ts';
import { checkedRecord, problemIn } from './problem.ts';
import { contextActions } from './step.ts';

const time = z.number().min(-latest).max(latest);
const matching = (pattern: RegExp, error = ' is not written as it should be') =>
  z.string({ error }).regex(pattern, { error });
const id = matching(idPattern);
const taskId = matching(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/);
/** As `parseHandle` reads it. */
const handle = matching(/^(?=.{0,300}$)[^:\s]+:[^#\s]+#[1-9]\d{0,8}$/, ' is no handle');
const checkId = matching(/^[^:\s]{1,64}:[^#\s]{1,200}#[1-9]\d{0,8}![1-9]\d{0,8}$/);
const session = word.exactOptional();
const tree = word.exactOptional();

const longText = z.strictObject({
  opening: z.string().max(2000),
  digest: matching(/^sha256:[0-9a-f]{64}$/),
  bytes: count,
});
/** Short text inline; long text by digest, with its opening. The store has all of it. */
const text = z.union([words, longText]);
const scalar = z.union([words, z.number().min(-1e300).max(1e300), z.boolean()]);

const role = z.enum(['gate', 'until', 'rerun', 'run', 'baseline']);
/** A server got it from a token that an agent has, and cannot know that the gate ran. */
const reportedBy = z.literal('agent').exactOptional();
const receipt = gateResult.extend({
  exit: z.int().min(-1e15).max(1e15).exactOptional(),
  role,
  what: words,
  /** The command was expected to fail. */
  expect: z.enum(['fail']).exactOptional(),
  /** With `baseline`: what the gate said before the work began. */
  before: z.enum(['pass', 'fail']).exactOptional(),
  reportedBy,
});
const receipts = z.array(receipt).max(20_000);
/** What a gate said before the work began. */
const baseline = z.strictObject({
  what: words,
  pass: z.boolean(),
  exit: z.int().min(-1e15).max(1e15).exactOptional(),
  reportedBy,
});
const requestedGate = z.strictObject({
  gate: z.strictObject({
    run: word.exactOptional(),
    expect: z.enum(['fail']).exactOptional(),
    contains: word.exactOptional(),
    exists: words.exactOptional(),
    condition: word.exactOptional(),
    read: z.array(words).max(100).exactOptional(),
    paths: z.array(word).max(100).exactOptional(),
    writes: z.array(word).max(100).exactOptional(),
    timeout: z.int().min(1).max(86_400).exactOptional(),
    rerun: z.boolean().exactOptional(),
    baseline: z.boolean().exactOptional(),
  }),
  /** `until` decides whether a ralph step ends; `rerun` counts only if the run would complete; `run` is the step itself; `baseline` runs before the work. */
  role,
  /** The step it was written on. */
  from: word,
});

/** `dropped`: removed by a person; tasks that depend on it continue. */
const taskEnd = z.enum(['done', 'failed', 'skipped', 'dropped']);
const task = z.strictObject({
  ...taskFields(taskId),
  end: taskEnd.exactOptional(),
  /** The handle that ended it, for replays. */
  endedAt: handle.exactOptional(),
  /** Why a person removed it. */
  reason: words.exactOptional(),
  /** The last epoch of its lease. */
  epoch: count.exactOptional(),
});
/** Of the principal, where a server proves it. */
const owner = ownerSchema.exactOptional();
const lease = z.strictObject({ holder: word, epoch: count, expires: time, owner });

/** What is known of a session when it begins. */
const facts = z.strictObject({
  host: word.exactOptional(),
  /** What reports resets of this session's context. */
  witness: witnesses.exactOptional(),
  environment: checkedRecord(path, 100).exactOptional(),
  worktree: path.exactOptional(),
  /** The session it replaces, if the host assigns a new id after a clear. */
  from: word.exactOptional(),
});

/** What a `when` looked at, as short JSON. */
const lookedAt = checkedRecord(words, 200);

const event = <T extends string, F extends z.ZodRawShape>(type: T, fields: F) =>
  z.strictObject({ type: z.literal(type), now: time, ...fields });

/**
 * Everything that can happen to a run. `at` is the handle of the position concerned.
 * Created on first use: few programs that load this file validate events.
 */
const createEventSchema = () =>
  z.discriminatedUnion('type', [
    event('run.started', {
      run: word,
      workflow: word,
      hash: word.exactOptional(),
      summary: words.exactOptional(),
      inputs: checkedRecord(scalar, 10_000),
      boundaries: boundaryPolicies,
    }),
    event('run.adopted', { adopted }),
    event('run.imported', { state: workflowStateOf(id, taskId, checkedRecord) }),
    event('run.completed', {}),
    event('run.failed', { reason: words }),
    event('run.cancelled', { reason: words }),
    event('cleanup.started', { runner: runner.exactOptional() }),
    event('cleanup.finished', {
      step: id,
      pass: z.boolean(),
      exit: z.int().exactOptional(),
      tail: words.exactOptional(),
    }),
    event('run.blocked', { reason: words }),
    event('run.rewound', { to: id }),
    event('run.paused', { by: word }),
    event('run.unpaused', { by: word }),
    /** A program takes the run to its end. A run has one driver at a time. */
    event('driver.taken', {
      epoch: count,
      process: driverProcess,
      expires: time,
      branch: word.exactOptional(),
      owner,
    }),
    event('driver.renewed', { epoch: count, expires: time }),
    event('driver.released', { epoch: count }),
    /** All sub-steps of the task are done; it ends when its branch is merged. */
    event('merge.queued', { loop: id, task: taskId, at: handle, failures: count }),
    event('merge.started', { loop: id, task: taskId, base: word, commit: word }),
    event('merge.finished', { loop: id, task: taskId, commit: word, receipts, tree }),
    /** The task goes back to its last sub-step. */
    event('merge.failed', {
      loop: id,
      task: taskId,
      why: z.enum(['conflict', 'red']),
      reason: words,
      receipts,
      files: z.array(path).max(10_000).exactOptional(),
    }),
    /** The attempts are used up; a person decides. */
    event('merge.parked', { loop: id, task: taskId, reason: words }),
    event('merge.retried', { loop: id, task: taskId, by: word }),
    /** Nothing can be merged until a person has changed something. */
    event('queue.held', { why: holdReasons, reason: words, head: word.exactOptional() }),
    event('queue.resumed', {}),
    event('run.pivoted', { from: id, to: id, tag: word, feedback: words, plan: text.exactOptional() }),
    event('step.entered', {
      step: id,
      context: contextActions.exactOptional(),
      forced: z.literal(true).exactOptional(),
    }),
    /** Its `when` is about to be decided; `step.entered` or `step.skipped` follows. */
    event('step.preparing', {
      step: id,
      context: contextActions.exactOptional(),
      forced: z.literal(true).exactOptional(),
    }),
    event('step.skipped', { step: id, values: lookedAt }),
    event('step.completed', { step: id, session }),
    event('position.entered', {
      step: id,
      task: taskId.exactOptional(),
      subStep: id.exactOptional(),
      iteration: z.int().min(1).max(1_000_000).exactOptional(),
      visit: z.int().min(1).max(999_999_999),
      why: z.enum(['next', 'retry', 'revise', 'claim', 'reclaim']),
      context: contextActions.exactOptional(),
      failures: count,
      failedAt: handle.exactOptional(),
      failure: words.exactOptional(),
      receipts: receipts.exactOptional(),
      feedback: words.exactOptional(),
      output: text.exactOptional(),
      lease: lease.exactOptional(),
      /** What must be known before work begins. */
      preparing: z.enum(['when', 'tasks', 'baseline']).exactOptional(),
      /** Of an earlier visit: a retry does not run them again. */
      baseline: z.array(baseline).max(1000).exactOptional(),
      /** Whose worktree has the files that are prepared. */
      session,
      tree,
    }),
    /** `then`: what else must be known before work begins. */
    event('position.prepared', {
      at: handle,
      context: contextActions.exactOptional(),
      then: z.enum(['baseline']).exactOptional(),
    }),
    event('position.skipped', { at: handle, values: lookedAt }),
    event('position.completed', {
      at: handle,
      output: text,
      receipts,
      tree,
      reviewed: word.exactOptional(),
      ownWork: z.literal(true).exactOptional(),
      session,
      /** Who did the work, where a later position of it is reviewed. */
      author: owner,
    }),
    event('position.failed', { at: handle, reason: words, session }),
    event('position.blocked', { at: handle, reason: words }),
    event('tasks.set', { loop: id, tasks: z.array(task).max(10_000), reportedBy }),
    event('task.dropped', { loop: id, task: taskId, reason: words, by: words }),
    event('task.ended', { loop: id, task: taskId, end: taskEnd, at: handle.exactOptional() }),
    event('lease.renewed', { at: handle, expires: time }),
    event('gates.requested', {
      at: handle,
      id: checkId,
      output: text,
      gates: z.array(requestedGate).max(20_000),
      deadline: time,
      tree,
      session,
      approval: z
        .strictObject({
          by: word,
          feedback: words.exactOptional(),
          principal: owner,
          ownWork: z.literal(true).exactOptional(),
        })
        .exactOptional(),
      /** Who did the work. */
      author: owner,
      /** Only of a check at the end of a turn. */
      onPass: z.enum(['advance', 'stay']).exactOptional(),
      /** Of such a check: red counts as an attempt. */
      attempt: z.literal(true).exactOptional(),
    }),
    event('gates.started', { id: checkId, deadline: time, runner: runner.exactOptional(), tree, owner }),
    event('gates.finished', {
      id: checkId,
      pass: z.boolean(),
      receipts,
      tree,
      unstable: z.array(path).max(100_000).exactOptional(),
    }),
    event('gates.interrupted', { id: checkId, why: z.enum(['deadline', 'runner', 'advance']) }),
    event('review.requested', {
      at: handle,
      by: word,
      output: text,
      receipts,
      tree,
      session,
      author: owner,
      /** Of a ralph step: no iteration is left, and `until` does not hold. */
      exhausted: z.literal(true).exactOptional(),
    }),
    event('review.decided', {
      at: handle.exactOptional(),
      verdict: verdictSchema,
      by: word,
      feedback: words.exactOptional(),
      /** Who proved to be the reviewer. */
      principal: owner,
      /** It is the principal that did the work. */
      ownWork: z.literal(true).exactOptional(),
    }),
    event('budget.spent', {
      step: id,
      turns: amount,
      tokens: amount,
      activeMs: amount,
      cost: amount.exactOptional(),
      /** The session, and the figures that it has told so far. */
      source: word.exactOptional(),
      told: told.exactOptional(),
    }),
    /** Absent `of` means the step. */
    event('budget.exhausted', { what: amounts.keyof(), of: z.literal('run').exactOptional() }),
    event('budget.extended', { amount: amounts, by: word, of: z.literal('run').exactOptional() }),
    event('question.asked', { id: word, at: handle, text: words }),
    event('question.answered', { id: word, answer: words }),
    event('note.added', {
      id: word,
      kind: noteKindSchema,
      text: words,
      key: word.exactOptional(),
      at: word.exactOptional(),
    }),
    event('todo.replaced', { content: text }),
    event('file.read', { path, hash: word, session }),
    event('artifacts.loaded', {
      trigger: word,
      artifacts: z.array(z.strictObject({ id, hash: word.exactOptional() })).max(1000),
      session: word,
    }),
    event('boundary.requested', {
      at: handle,
      policy: boundaryPolicies,
      session,
      downgraded: z.literal(true).exactOptional(),
    }),
    event('boundary.reset', { at: handle, by: resetBy, saw, session }),
    event('boundary.released', { at: handle, how: z.enum(['reset', 'skipped', 'proceeded']) }),
    event('briefing.delivered', { briefing: word, session: word, proven: proofs }),
    event('compaction.recorded', { session: word, ...compaction.shape }),
    event('session.started', { session: word, ...facts.shape, owner }),
    event('session.ended', { session: word }),
    event('session.reset', { session: word, saw, by: resetBy }),
    event('stop.held', { at: handle, session: word }),
  ]);

export type Event = z.infer<ReturnType<typeof createEventSchema>>;
export type EventType = Event['type'];
export type EventOf<T extends EventType> = Extract<Event, { type: T }>;
export type Text = z.infer<typeof text>;
export type LongText = z.infer<typeof longText>;
export type RequestedGate = z.infer<typeof requestedGate>;
/** The evidence of a gate. */
export type Receipt = z.infer<typeof receipt>;
export type Baseline = z.infer<typeof baseline>;
export type Task = z.infer<typeof task>;
export type TaskEnd = z.infer<typeof taskEnd>;
export type Lease = z.infer<typeof lease>;
export type SessionFacts = z.infer<typeof facts>;

let byType: Map<unknown, z.ZodType> | undefined;

const schemaOf = (type: unknown): z.ZodType | undefined => {
  byType ??= new Map(createEventSchema().options.map((each) => [each.shape.type.value, each]));
  return byType.get(type);
};

export const isKnownEvent = (type: unknown): type is EventType => schemaOf(type) !== undefined;

/** The problem with an event of a known type; undefined if it is valid. */
export function eventProblem(event: Event): string | undefined {
  const schema = schemaOf(event.type);
  const problem = schema && problemIn(schema, event);
  return problem === undefined ? undefined : `${event.type}${problem}`;
}
