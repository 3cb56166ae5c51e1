import * as z from 'zod';
import { boundaryPolicies } from './definition.ts';
import type { SessionFacts, Text } from './event.ts';
import {
  adopted,
  amount,
  amounts,
  compaction,
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
  verdictSchema,
  type WorkflowState,
  type WorkflowTask,
  witnesses,
  word,
  words,
  workflowStateOf,
} from './parts.ts';
import { principalSchema } from './principal.ts';

export const runId = z.string().regex(/^[a-z0-9-]{1,128}$/);

/** Callers send plain strings; an engine stores long text before the machine sees it. */
const text: z.ZodType<Text, string> = z.string().max(2_000_000);
const at = word.optional();
const runnerAlive = z.boolean().optional();

export const named = <V>(values: z.ZodType<V>, most: number) =>
  z
    .record(word, values)
    .refine((value) => Object.keys(value).length <= most, `has more than ${most} entries`);
const inputs = named(z.union([words, z.number(), z.boolean()]), 1000);

export const facts = z.strictObject({
  host: word.exactOptional(),
  witness: witnesses.exactOptional(),
  // Stored once per session.
  environment: named(z.string().max(500), 30).exactOptional(),
  worktree: path.exactOptional(),
  from: word.exactOptional(),
}) satisfies z.ZodType<SessionFacts>;

const task = z.strictObject(taskFields(word));

const sessionEvent = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('started'),
    ...facts.shape,
    /** Of a runner: the session has the token that it made under this name. */
    as: word.exactOptional(),
  }),
  z.strictObject({ type: z.literal('ended') }),
  z.strictObject({ type: z.literal('seen') }),
  z.strictObject({ type: z.literal('held'), at: word }),
  z.strictObject({ type: z.literal('delivered'), briefing: word, proven: proofs }),
  z.strictObject({ type: z.literal('compacted'), ...compaction.shape }),
]);

/** A saved run of `WorkflowStateMachine` or of Lanes. */
const workflowState = workflowStateOf(word, word, named);

const savedTask = z.object({
  ...taskFields(word),
  status: z.enum(['pending', 'in_progress', 'done', 'failed']),
});

/** The same as a file may hold it, with keys that only its writer knows. */
export const savedStateSchema: z.ZodType<WorkflowState> = z.object({
  ...workflowState.shape,
  task: z.object({ index: z.int().min(0), id: word, title: words }).exactOptional(),
  tasks: named<WorkflowTask[]>(z.array(savedTask).max(10_000), 1000).default({}),
  outputs: named(words, 100_000).default({}),
  artefacts: z.array(words).max(10_000).default([]),
  contextActionExecuted: z.boolean().default(false),
});

const sentActor = z.strictObject({ kind: z.enum(['agent', 'person', 'engine']), name: word.optional() });
/** Only a server sets the principal. */
const actor = sentActor.extend({ principal: principalSchema.optional() });

/** The caller and the time of a command: the machine has no clock. */
const caller = z.strictObject({
  now: z.number(),
  /** Absent means an agent. */
  actor: actor.optional(),
  session: word.optional(),
  /** The hash of the tree at this time, if known. */
  tree: word.optional(),
});

const command = <T extends string, F extends z.ZodRawShape>(type: T, fields: F) =>
  z.strictObject({ type: z.literal(type), ...caller.shape, ...fields });

/** Those that are missing, and why the condition of one cannot be decided. */
const requiredArtifacts = { missing: z.array(word).max(1000).optional(), undecided: words.optional() };

const commandSchema = z.discriminatedUnion('type', [
  command('start', {
    run: runId,
    summary: words.optional(),
    inputs: inputs.optional(),
    boundaries: boundaryPolicies.optional(),
    /** Of the pinned definition. */
    hash: word.optional(),
    /** Of the session that starts the run. */
    facts: facts.optional(),
  }),
  command('adopt', { run: runId, summary: words.optional(), adopted, facts: facts.optional() }),
  command('import', {
    run: runId,
    state: workflowState,
    inputs: inputs.optional(),
    facts: facts.optional(),
  }),
  command('status', { at, runnerAlive }),
  /** `text`: the whole of a long output, which the engine adds and does not keep. */
  command('advance', { output: text, text: words.optional(), at, runnerAlive, ...requiredArtifacts }),
  /** A turn ended: runs the gates of the position. Red is no attempt; green advances with this output, or stays. */
  command('check', {
    output: text,
    at: word,
    stay: z.boolean().optional(),
    /** Of a driver: red counts as an attempt. */
    attempt: z.boolean().optional(),
    runnerAlive,
    ...requiredArtifacts,
  }),
  command('fail', { reason: words, at, runnerAlive }),
  /** Of a driver: the agent makes no progress, and a person decides. */
  command('block', { at: word, reason: words }),
  command('setTasks', { loop: word, tasks: z.array(task).max(10_000) }),
  command('dropTask', { task: word, reason: words, loop: word.optional() }),
  command('claim', { holder: word, task: word.optional() }),
  /** What a position asked for before work begins; `problem` says why it could not be found. */
  command('prepared', {
    at: word,
    when: z.object({ holds: z.boolean(), values: z.record(z.string(), z.string()) }).optional(),
    tasks: z.array(task).max(10_000).optional(),
    problem: words.optional(),
  }),
  command('gatesStarted', {
    id: word,
    deadline: z.number().min(0).max(latest).optional(),
    runner: runner.optional(),
  }),
  command('gatesFinished', {
    id: word,
    receipts: z.array(gateResult).max(20_000),
    unstable: z.array(path).max(10_000).optional(),
    /** Of a run step. */
    output: text.optional(),
    runner: runner.optional(),
  }),
  /** The run has ended, and the commands of `finally` begin. */
  command('cleanupStarted', { runner: runner.optional() }),
  command('cleanupFinished', {
    step: word,
    pass: z.boolean(),
    exit: z.int().optional(),
    tail: words.optional(),
    runner: runner.optional(),
  }),
  /** A program takes over the run, and goes on or stops doing so. `gone`: the epoch of a driver whose process has ended. */
  command('drive', {
    change: z.enum(['take', 'renew', 'release']),
    process: driverProcess,
    /** Of the lease that is renewed or released. */
    epoch: z.int().min(1).optional(),
    branch: word.optional(),
    gone: z.int().min(1).optional(),
  }),
  /** No new turn of a driver until it is unpaused. */
  command('pause', {}),
  command('unpause', {}),
  command('mergeStarted', { epoch: z.int().min(1), task: word, base: word, commit: word }),
  command('mergeFinished', {
    epoch: z.int().min(1),
    task: word,
    result: z.enum(['merged', 'conflict', 'red']),
    commit: word.optional(),
    receipts: z.array(gateResult).max(1000).optional(),
    /** What each result is of. */
    gates: z.array(words).max(1000).optional(),
    files: z.array(path).max(10_000).optional(),
    reason: words.optional(),
  }),
  /** Without a reason the queue goes on. */
  command('holdQueue', {
    epoch: z.int().min(1),
    why: holdReasons.optional(),
    reason: words.optional(),
    head: word.optional(),
  }),
  /** A parked task is tried again. */
  command('retryMerge', { task: word, loop: word.optional() }),
  command('review', {
    verdict: verdictSchema,
    feedback: words.optional(),
    at,
    amount: amounts.optional(),
    to: word.optional(),
  }),
  command('ask', { text: words, at }),
  command('answer', { text: words, question: word.optional() }),
  command('note', { kind: noteKindSchema, text: words, key: words.optional(), at }),
  command('todo', { content: text }),
  command('read', { path, hash: word }),
  command('loaded', {
    trigger: words,
    artifacts: z.array(z.strictObject({ id: word, hash: word.exactOptional() })).max(1000),
  }),
  command('boundary', { by: resetBy, saw, at }),
  command('proceed', { at }),
  command('session', { event: sessionEvent }),
  /** With a source, cumulative figures of a session; else amounts to add. */
  command('spend', {
    source: word.optional(),
    turns: amount.optional(),
    tokens: amount.optional(),
    activeMs: amount.optional(),
    cost: amount.optional(),
    at,
  }),
  command('rewind', { to: word }),
  command('cancel', { reason: words.optional() }),
]);

export type Command = z.infer<typeof commandSchema>;
export type CommandType = Command['type'];
export type CommandOf<T extends CommandType> = Extract<Command, { type: T }>;
export type Caller = z.infer<typeof caller>;
export type TaskInput = z.infer<typeof task>;

type Each<C, Without extends PropertyKey> = C extends unknown ? Omit<C, Without> : never;
/** Begins a run; the engine names it. */
export type OpeningCommand = Each<CommandOf<'start' | 'adopt' | 'import'>, 'run'>;

/** `now` may be sent and is ignored: the server has its own clock. */
type Sent<C> = C extends { now: number } ? Omit<C, 'now'> & { now?: number } : never;

export const commandTypes: readonly CommandType[] = commandSchema.options.map(
  ({ shape }) => shape.type.value,
);

const openings: readonly CommandType[] = ['start', 'adopt', 'import'];
const unproven = { now: z.number().exactOptional(), actor: sentActor.optional() };

/** For an existing run. `adopt` is included: an adopted run follows its source with it. */
export const sentCommandSchema = unionOf<Sent<Command>>(
  commandSchema.options
    .filter(({ shape }) => shape.type.value === 'adopt' || !openings.includes(shape.type.value))
    .map((each) => ({ ...each.shape, ...unproven })),
);

export const sentOpeningSchema = unionOf<Sent<OpeningCommand>>(
  commandSchema.options
    .filter(({ shape }) => openings.includes(shape.type.value))
    .map(({ shape }) =>
      Object.fromEntries(Object.entries({ ...shape, ...unproven }).filter(([name]) => name !== 'run')),
    ),
);

/** A mapped list loses its types. */
function unionOf<T>(shapes: z.ZodRawShape[]): z.ZodType<T> {
  const members = shapes.map((shape) => z.strictObject(shape)) as unknown as [z.ZodDiscriminatedUnion];
  return z.discriminatedUnion('type', members) as unknown as z.ZodType<T>;
}
