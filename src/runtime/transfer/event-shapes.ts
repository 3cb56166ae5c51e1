import {
  type BoundaryPolicy,
  type ContextAction,
  type Event,
  type EventType,
  parseHandle,
  type Text,
} from '../../machine/index.ts';
import {
  type AnyShape,
  either,
  type Fields,
  flag,
  list,
  matching,
  number,
  object,
  oneOf,
  onlyTrue,
  optional,
  record,
  type Shape,
  text,
  whole,
  withFields,
} from './shape.ts';

type EventOf<T extends EventType> = Extract<Event, { type: T }>;
type Part<T extends EventType, K extends keyof EventOf<T>> = Exclude<EventOf<T>[K], undefined>;
type Receipt = Part<'gates.finished', 'receipts'>[number];
type RequestedGate = Part<'gates.requested', 'gates'>[number];
type Task = Part<'tasks.set', 'tasks'>[number];
type WorkflowState = Part<'run.imported', 'state'>;
type Adopted = Part<'run.adopted', 'adopted'>;
type Amount = Part<'budget.extended', 'amount'>;
type Lease = Part<'position.entered', 'lease'>;

/** Until the year 2126: every date that is made of one can be shown. */
const latest = Date.UTC(2126, 0);
const most = 1e15;
/** Above what the machine takes, so that no honest run is refused for a word too many. */
const words = text(300_000);
const word = text(1000);
const path = text(5000);
const time = number(-latest, latest);
const amount = number(0, most);
const count = whole(0, 1_000_000_000);
const id = matching(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/);
const taskId = matching(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/);
const handle: Shape<string> = {
  wrong: (value) =>
    typeof value === 'string' && value.length <= 300 && parseHandle(value) ? undefined : ' is no handle',
};
const checkId = matching(/^[^:\s]{1,64}:[^#\s]{1,200}#[1-9]\d{0,8}![1-9]\d{0,8}$/);
const longText: Shape<Text> = either<string, Exclude<Text, string>>(
  words,
  object<Exclude<Text, string>>({
    opening: text(2000),
    digest: matching(/^sha256:[0-9a-f]{64}$/),
    bytes: count,
  }),
);
const scalar: Shape<string | number | boolean> = either(either(words, number(-1e300, 1e300)), flag);
const context = oneOf<ContextAction>({ compact: true, clear: true });
const policy = oneOf<BoundaryPolicy>({ prefer: true, require: true, off: true });
const resetBy = oneOf<Part<'session.reset', 'by'>>({
  hook: true,
  wrapper: true,
  driver: true,
  subagent: true,
  new_session: true,
});
const saw = oneOf<Part<'session.reset', 'saw'>>({ compact: true, clear: true, new: true });
const role = oneOf<RequestedGate['role']>({ gate: true, until: true, rerun: true });
const taskEnd = oneOf<Part<'task.ended', 'end'>>({
  done: true,
  failed: true,
  skipped: true,
  dropped: true,
});

const receipts = list(
  object<Receipt>({
    gate: count,
    pass: flag,
    exit: optional(whole(-most, most)),
    ms: optional(amount),
    tail: optional(words),
    digest: optional(word),
    tree: optional(word),
    reused: optional(flag),
    role,
    what: words,
  }),
  20_000,
);
const gates = list(
  object<RequestedGate>({
    gate: object<RequestedGate['gate']>({
      run: optional(word),
      exists: optional(words),
      condition: optional(word),
      read: optional(list(words, 100)),
      paths: optional(list(word, 100)),
      writes: optional(list(word, 100)),
      timeout: optional(whole(1, 86_400)),
      rerun: optional(flag),
    }),
    role,
    from: word,
  }),
  20_000,
);
const tasks = list(
  object<Task>({
    id: taskId,
    title: words,
    description: optional(words),
    depends_on: optional(list(taskId, 5000)),
    end: optional(taskEnd),
    endedAt: optional(handle),
    reason: optional(words),
    epoch: optional(count),
  }),
  10_000,
);
const runner = object<Part<'gates.started', 'runner'>>({ pid: whole(1, 2 ** 32), host: word });
const lease = object<Lease>({ holder: word, epoch: count, expires: time });
const adopted = object<Adopted>({
  source: path,
  phase: optional(object<NonNullable<Adopted['phase']>>({ current: count, total: count, name: words })),
  reading: optional(list(path, 1000)),
  text: optional(words),
});
const workflowState = object<WorkflowState>({
  status: oneOf<WorkflowState['status']>({ running: true, complete: true, failed: true }),
  step: id,
  stepType: oneOf<WorkflowState['stepType']>({ action: true, loop: true, ralph: true }),
  task: optional(object<NonNullable<WorkflowState['task']>>({ index: count, id: taskId, title: words })),
  subStep: optional(id),
  ralphIteration: optional(count),
  tasks: record(
    list(
      object<WorkflowState['tasks'][string][number]>({
        id: taskId,
        title: words,
        description: optional(words),
        depends_on: optional(list(taskId, 5000)),
        status: oneOf<WorkflowState['tasks'][string][number]['status']>({
          pending: true,
          in_progress: true,
          done: true,
          failed: true,
        }),
      }),
      10_000,
    ),
    1000,
  ),
  outputs: record(words, 100_000),
  summary: optional(words),
  artefacts: list(words, 10_000),
  currentStepArtefacts: optional(flag),
  contextActionExecuted: flag,
});

/** Complete by its type, down to the fields: what the machine does not know it would pass over in silence, or keep. */
const fields: { [T in EventType]: Fields<Omit<EventOf<T>, 'type' | 'now'>> } = {
  'run.started': {
    run: word,
    workflow: word,
    hash: optional(word),
    summary: optional(words),
    inputs: record(scalar, 10_000),
    boundaries: policy,
  },
  'run.adopted': { adopted },
  'run.imported': { state: workflowState },
  'run.completed': {},
  'run.failed': { reason: words },
  'run.cancelled': { reason: words },
  'run.blocked': { reason: words },
  'run.rewound': { to: id },
  'run.pivoted': { from: id, to: id, tag: word, feedback: words, plan: optional(longText) },
  'step.entered': { step: id, context: optional(context), forced: optional(onlyTrue) },
  'step.completed': { step: id, session: optional(word) },
  'position.entered': {
    step: id,
    task: optional(taskId),
    subStep: optional(id),
    iteration: optional(whole(1, 1_000_000)),
    visit: whole(1, 999_999_999),
    why: oneOf<Part<'position.entered', 'why'>>({
      next: true,
      retry: true,
      revise: true,
      claim: true,
      reclaim: true,
    }),
    context: optional(context),
    failures: count,
    failedAt: optional(handle),
    failure: optional(words),
    receipts: optional(receipts),
    feedback: optional(words),
    output: optional(longText),
    lease: optional(lease),
    tree: optional(word),
  },
  'position.completed': {
    at: handle,
    output: longText,
    receipts,
    tree: optional(word),
    reviewed: optional(word),
    session: optional(word),
  },
  'position.failed': { at: handle, reason: words, session: optional(word) },
  'position.blocked': { at: handle, reason: words },
  'tasks.set': { loop: id, tasks },
  'task.dropped': { loop: id, task: taskId, reason: words, by: words },
  'task.ended': { loop: id, task: taskId, end: taskEnd, at: optional(handle) },
  'lease.renewed': { at: handle, expires: time },
  'gates.requested': {
    at: handle,
    id: checkId,
    output: longText,
    gates,
    deadline: time,
    tree: optional(word),
    session: optional(word),
    approval: optional(object<Part<'gates.requested', 'approval'>>({ by: word, feedback: optional(words) })),
  },
  'gates.started': { id: checkId, deadline: time, runner: optional(runner), tree: optional(word) },
  'gates.finished': {
    id: checkId,
    pass: flag,
    receipts,
    tree: optional(word),
    unstable: optional(list(path, 100_000)),
  },
  'gates.interrupted': {
    id: checkId,
    why: oneOf<Part<'gates.interrupted', 'why'>>({ deadline: true, runner: true }),
  },
  'review.requested': {
    at: handle,
    by: word,
    output: longText,
    receipts,
    tree: optional(word),
    session: optional(word),
  },
  'review.decided': {
    at: optional(handle),
    verdict: oneOf<Part<'review.decided', 'verdict'>>({
      approve: true,
      revise: true,
      pivot: true,
      escalate: true,
      abandon: true,
    }),
    by: word,
    feedback: optional(words),
  },
  'budget.spent': { step: id, turns: amount, tokens: amount, activeMs: amount },
  'budget.exhausted': { what: oneOf<keyof Amount>({ turns: true, tokens: true, minutes: true }) },
  'budget.extended': {
    amount: object<Amount>({
      turns: optional(amount),
      tokens: optional(amount),
      minutes: optional(amount),
    }),
    by: word,
  },
  'question.asked': { id: word, at: handle, text: words },
  'question.answered': { id: word, answer: words },
  'note.added': {
    id: word,
    kind: oneOf<Part<'note.added', 'kind'>>({
      decision: true,
      rejection: true,
      correction: true,
      reminder: true,
      variable: true,
      artefact: true,
      reading: true,
    }),
    text: words,
    key: optional(word),
    at: optional(word),
  },
  'todo.replaced': { content: longText },
  'file.read': { path, hash: word, session: optional(word) },
  'artifacts.loaded': {
    trigger: word,
    artifacts: list(
      object<Part<'artifacts.loaded', 'artifacts'>[number]>({ id, hash: optional(word) }),
      1000,
    ),
    session: word,
  },
  'boundary.requested': {
    at: handle,
    policy,
    session: optional(word),
    downgraded: optional(onlyTrue),
  },
  'boundary.reset': { at: handle, by: resetBy, saw, session: optional(word) },
  'boundary.released': {
    at: handle,
    how: oneOf<Part<'boundary.released', 'how'>>({ reset: true, skipped: true, proceeded: true }),
  },
  'briefing.delivered': {
    briefing: word,
    session: word,
    proven: oneOf<Part<'briefing.delivered', 'proven'>>({ transcript: true, handle: true, none: true }),
  },
  'compaction.recorded': {
    session: word,
    trigger: oneOf<Part<'compaction.recorded', 'trigger'>>({ manual: true, auto: true }),
    asked: count,
    found: count,
    kept: list(word, 10_000),
    lost: list(word, 10_000),
  },
  'session.started': {
    session: word,
    host: optional(word),
    witness: optional(
      oneOf<Part<'session.started', 'witness'>>({ hooks: true, wrapper: true, driver: true }),
    ),
    environment: optional(record(path, 100)),
    worktree: optional(path),
    from: optional(word),
  },
  'session.ended': { session: word },
  'session.reset': { session: word, saw, by: resetBy },
  'stop.held': { at: handle, session: word },
};

const shapes = new Map<unknown, AnyShape>(
  Object.entries(fields).map(([type, own]) => [type, withFields({ type: word, now: time, ...own })]),
);

export const isKnownEvent = (type: unknown): type is EventType => shapes.has(type);

/** What is wrong with an event of a known type; undefined where nothing is. */
export function wrongIn(event: Event): string | undefined {
  const wrong = shapes.get(event.type)?.wrong(event);
  return wrong === undefined ? undefined : `${event.type}${wrong}`;
}
