import * as z from 'zod';
import type { Circumstances, Once, OpeningCommand } from '../engine/index.ts';
import type { Caller, CommandOf, CommandType } from '../machine/index.ts';

type Fields<T> = {
  [K in keyof T]-?: Record<never, never> extends Pick<T, K>
    ? z.ZodExactOptional<z.ZodType<Exclude<T[K], undefined>>>
    : z.ZodType<T[K]>;
};
type Own<T extends CommandType> = Fields<Omit<CommandOf<T>, keyof Caller | 'type'>>;

/** Above what the machine takes where it says itself that something is too long. */
const text = z.string().max(2_000_000);
const words = z.string().max(300_000);
const word = z.string().max(1000);
const path = z.string().max(5000);
const time = z.number().min(0).max(Date.UTC(2126, 0));
const amount = z.number().min(0).max(1e15);
const count = z.int().min(0).max(1_000_000_000);
const scalar = z.union([words, z.number(), z.boolean()]);
const named = <T extends z.ZodType>(schema: T, most: number) =>
  z
    .record(word, schema)
    .refine((value) => Object.keys(value).length <= most, `has more than ${most} entries`);

export const runId = z.string().regex(/^[a-z0-9-]{1,128}$/);
export const key = z.string().min(1).max(512);

const facts = {
  host: word.exactOptional(),
  witness: z.enum(['hooks', 'wrapper', 'driver']).exactOptional(),
  // Each session of a run keeps its own.
  environment: named(z.string().max(500), 30).exactOptional(),
  worktree: path.exactOptional(),
  from: word.exactOptional(),
} satisfies Fields<NonNullable<Circumstances['facts']>>;
const factsObject = z.strictObject(facts);
const inputs = named(scalar, 1000);
const runner = z.strictObject({
  pid: z
    .int()
    .min(1)
    .max(2 ** 32),
  host: word,
});
const task = {
  id: word,
  title: words,
  description: words.exactOptional(),
  depends_on: z.array(word).max(5000).exactOptional(),
} satisfies Fields<CommandOf<'setTasks'>['tasks'][number]>;

const workflowState = z.strictObject({
  status: z.enum(['running', 'complete', 'failed']),
  step: word,
  stepType: z.enum(['action', 'loop', 'ralph']),
  task: z.strictObject({ index: count, id: word, title: words }).exactOptional(),
  subStep: word.exactOptional(),
  ralphIteration: count.exactOptional(),
  tasks: named(
    z
      .array(z.strictObject({ ...task, status: z.enum(['pending', 'in_progress', 'done', 'failed']) }))
      .max(10_000),
    1000,
  ),
  outputs: named(words, 100_000),
  summary: words.exactOptional(),
  artefacts: z.array(words).max(10_000),
  currentStepArtefacts: z.boolean().exactOptional(),
  contextActionExecuted: z.boolean(),
} satisfies Fields<CommandOf<'import'>['state']>);

const result = z.strictObject({
  gate: count,
  pass: z.boolean(),
  exit: z.int().exactOptional(),
  ms: amount.exactOptional(),
  tail: words.exactOptional(),
  digest: word.exactOptional(),
  tree: word.exactOptional(),
  reused: z.boolean().exactOptional(),
} satisfies Fields<CommandOf<'gatesFinished'>['receipts'][number]>);

const amounts = z.strictObject({
  turns: amount.exactOptional(),
  tokens: amount.exactOptional(),
  minutes: amount.exactOptional(),
} satisfies Fields<NonNullable<CommandOf<'review'>['amount']>>);

const adopted = z.strictObject({
  source: path,
  phase: z.strictObject({ current: count, total: count, name: words }).exactOptional(),
  reading: z.array(path).max(1000).exactOptional(),
  text: words.exactOptional(),
} satisfies Fields<CommandOf<'adopt'>['adopted']>);

const sessionEvent = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('started'), ...facts }),
  z.strictObject({ type: z.literal('ended') }),
  z.strictObject({ type: z.literal('seen') }),
  z.strictObject({ type: z.literal('held'), at: word }),
  z.strictObject({
    type: z.literal('delivered'),
    briefing: word,
    proven: z.enum(['transcript', 'handle', 'none']),
  }),
  z.strictObject({
    type: z.literal('compacted'),
    trigger: z.enum(['manual', 'auto']),
    asked: count,
    found: count,
    kept: z.array(word).max(10_000),
    lost: z.array(word).max(10_000),
  }),
]);

const at = word.exactOptional();
const runnerAlive = z.boolean().exactOptional();

/** Complete by its type, down to the fields. Words come as text: only an engine keeps them aside. */
const own: { [T in CommandType]: Own<T> } = {
  start: {
    run: runId,
    summary: words.exactOptional(),
    inputs: inputs.exactOptional(),
    boundaries: z.enum(['prefer', 'require', 'off']).exactOptional(),
    hash: word.exactOptional(),
    facts: factsObject.exactOptional(),
  },
  adopt: { run: runId, summary: words.exactOptional(), adopted, facts: factsObject.exactOptional() },
  import: {
    run: runId,
    state: workflowState,
    inputs: inputs.exactOptional(),
    facts: factsObject.exactOptional(),
  },
  status: { at, runnerAlive },
  advance: { output: text, at, runnerAlive, missing: z.array(word).max(1000).exactOptional() },
  fail: { reason: words, at, runnerAlive },
  setTasks: { loop: word, tasks: z.array(z.strictObject(task)).max(10_000) },
  dropTask: { task: word, reason: words, loop: word.exactOptional() },
  claim: { holder: word, task: word.exactOptional() },
  gatesStarted: { id: word, deadline: time.exactOptional(), runner: runner.exactOptional() },
  gatesFinished: {
    id: word,
    receipts: z.array(result).max(20_000),
    unstable: z.array(path).max(10_000).exactOptional(),
    runner: runner.exactOptional(),
  },
  review: {
    verdict: z.enum(['approve', 'revise', 'pivot', 'escalate', 'abandon']),
    feedback: words.exactOptional(),
    at,
    amount: amounts.exactOptional(),
    to: word.exactOptional(),
  },
  ask: { text: words, at },
  answer: { text: words, question: word.exactOptional() },
  note: {
    kind: z.enum(['decision', 'rejection', 'correction', 'reminder', 'variable', 'artefact', 'reading']),
    text: words,
    key: words.exactOptional(),
    at,
  },
  todo: { content: text },
  read: { path, hash: word },
  loaded: {
    trigger: words,
    artifacts: z.array(z.strictObject({ id: word, hash: word.exactOptional() })).max(1000),
  },
  boundary: {
    by: z.enum(['hook', 'wrapper', 'driver', 'subagent', 'new_session']),
    saw: z.enum(['compact', 'clear', 'new']),
    at,
  },
  proceed: { at },
  session: { event: sessionEvent },
  spend: { turns: amount.exactOptional(), tokens: amount.exactOptional(), at },
  rewind: { to: word },
  cancel: { reason: words.exactOptional() },
};

/** What the server says itself may be sent, and counts for nothing. */
const caller = {
  now: z.number().exactOptional(),
  actor: z
    .strictObject({ kind: z.enum(['agent', 'person', 'engine']), name: word.exactOptional() })
    .exactOptional(),
  session: word.exactOptional(),
  tree: word.exactOptional(),
};

const openings: readonly CommandType[] = ['start', 'adopt', 'import'];
const types = Object.keys(own) as CommandType[]; // The keys of a literal with exactly these.
const commandOf = (type: CommandType) => z.strictObject({ type: z.literal(type), ...caller, ...own[type] });
// The engine names the run, or `once` does.
const openingOf = (type: CommandType) =>
  z.strictObject(
    Object.fromEntries(Object.entries(commandOf(type).shape).filter(([name]) => name !== 'run')),
  );

/** Without `now` and `actor`, which are the server's to say. */
export type SentCommand = { [T in CommandType]: Omit<CommandOf<T>, 'now'> & { now?: number } }[CommandType];
export type SentOpening = OpeningCommand extends infer C
  ? C extends unknown
    ? Omit<C, 'now'> & { now?: number }
    : never
  : never;

/** A run that was adopted follows its source by the command that adopted it. */
const isForRuns = (type: CommandType): boolean => type === 'adopt' || !openings.includes(type);

// Unions of many are typed by their parts above.
export const commandSchema = z.discriminatedUnion(
  'type',
  types.filter(isForRuns).map(commandOf) as [ReturnType<typeof commandOf>],
) as unknown as z.ZodType<SentCommand>;
export const openingSchema = z.discriminatedUnion(
  'type',
  openings.map(openingOf) as unknown as [ReturnType<typeof commandOf>],
) as unknown as z.ZodType<SentOpening>;

export const circumstancesSchema = z.strictObject({
  facts: factsObject.exactOptional(),
  values: named(path, 100).exactOptional(),
  check: word.exactOptional(),
  // The principal is the server's to say.
} satisfies Fields<Omit<Circumstances, 'principal'>>);

export const onceSchema = z.strictObject({ run: runId, key } satisfies Fields<Once>);
