import * as z from 'zod';
import { noteKinds, verdicts } from './names.ts';

/** Larger than the machine's limits, so that the machine itself reports what is too long. */
export const words = z.string().max(300_000);
export const word = z.string().max(1000);
export const path = z.string().max(5000);
export const amount = z.number().min(0).max(1e15);
export const count = z.int().min(0).max(1_000_000_000);
/** The year 2126: every time can be shown as a date. */
export const latest = Date.UTC(2126, 0);

export const verdictSchema = z.enum(verdicts);
export const noteKindSchema = z.enum(noteKinds);
export const resetBy = z.enum(['hook', 'wrapper', 'driver', 'subagent', 'new_session']);
export const saw = z.enum(['compact', 'clear', 'new']);
export const proofs = z.enum(['transcript', 'handle', 'none']);
export const witnesses = z.enum(['hooks', 'wrapper', 'driver']);

/** The process of a driver. `boot` tells processes of the same id before and after a restart of the machine apart. */
export const driverProcess = z.strictObject({
  pid: z
    .int()
    .min(1)
    .max(2 ** 31),
  machine: word,
  boot: word.exactOptional(),
});

/** Why the merge queue waits for a person. */
export const holdReasons = z.enum(['base_red', 'dirty', 'rewound', 'unstable', 'setup']);

export const runner = z.strictObject({
  pid: z
    .int()
    .min(1)
    .max(2 ** 32),
  host: word,
});

export const amounts = z.strictObject({
  turns: amount.exactOptional(),
  tokens: amount.exactOptional(),
  minutes: amount.exactOptional(),
  cost: amount.exactOptional(),
});

/** Cumulative figures of a session. */
export const told = z.strictObject({ turns: amount, tokens: amount, activeMs: amount, cost: amount });

export const adopted = z.strictObject({
  source: path,
  phase: z.strictObject({ current: count, total: count, name: words }).exactOptional(),
  reading: z.array(path).max(1000).exactOptional(),
  text: words.exactOptional(),
  reminders: z.array(words).max(1000).exactOptional(),
  variables: z
    .array(z.strictObject({ name: word, value: words }))
    .max(1000)
    .exactOptional(),
});

/** The result of a gate; `gate` is its index in the request. */
export const gateResult = z.strictObject({
  gate: count,
  pass: z.boolean(),
  /** A condition that cannot be decided; `tail` says why. */
  undecided: z.literal(true).exactOptional(),
  exit: z.int().exactOptional(),
  ms: amount.exactOptional(),
  tail: words.exactOptional(),
  digest: word.exactOptional(),
  tree: word.exactOptional(),
  reused: z.boolean().exactOptional(),
});

/** How much of the context to keep is in a session's summary. */
export const compaction = z.strictObject({
  trigger: z.enum(['manual', 'auto']),
  /** Facts: the position, notes, variables, paths, commands. */
  asked: count,
  found: count,
  /** Ids of the notes in it verbatim, and of the missing ones. */
  kept: z.array(word).max(10_000),
  lost: z.array(word).max(10_000),
});

/** What commands and events accept differs in ids and records. */
export const taskFields = (taskId: z.ZodString) => ({
  id: taskId,
  title: words,
  description: words.exactOptional(),
  depends_on: z.array(taskId).max(5000).exactOptional(),
});

const workflowTaskOf = (taskId: z.ZodString) =>
  z.strictObject({ ...taskFields(taskId), status: z.enum(['pending', 'in_progress', 'done', 'failed']) });

/** A saved run of `WorkflowStateMachine`. */
export const workflowStateOf = (
  id: z.ZodString,
  taskId: z.ZodString,
  recordOf: <V>(values: z.ZodType<V>, most: number) => z.ZodType<Record<string, V>>,
) =>
  z.strictObject({
    status: z.enum(['running', 'complete', 'failed']),
    step: id,
    stepType: z.enum(['action', 'loop', 'ralph']),
    task: z.strictObject({ index: count, id: taskId, title: words }).exactOptional(),
    subStep: id.exactOptional(),
    ralphIteration: count.exactOptional(),
    tasks: recordOf<WorkflowTask[]>(z.array(workflowTaskOf(taskId)).max(10_000), 1000),
    outputs: recordOf(words, 100_000),
    summary: words.exactOptional(),
    artefacts: z.array(words).max(10_000),
    currentStepArtefacts: z.boolean().exactOptional(),
    contextActionExecuted: z.boolean(),
  });

export type WorkflowState = z.infer<ReturnType<typeof workflowStateOf>>;
export type WorkflowTask = z.infer<ReturnType<typeof workflowTaskOf>>;
export type Verdict = z.infer<typeof verdictSchema>;
export type NoteKind = z.infer<typeof noteKindSchema>;
export type ResetBy = z.infer<typeof resetBy>;
export type Saw = z.infer<typeof saw>;
export type Proof = z.infer<typeof proofs>;
export type Told = z.infer<typeof told>;
export type Amount = z.infer<typeof amounts>;
export type Adopted = z.infer<typeof adopted>;
export type GateResult = z.infer<typeof gateResult>;
export type DriverProcess = z.infer<typeof driverProcess>;
export type HoldReason = z.infer<typeof holdReasons>;
