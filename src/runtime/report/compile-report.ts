import { withoutSecrets } from '../../context/index.ts';
import {
  allUsedUp,
  type Definition,
  type EventType,
  endedUnproven,
  gateKind,
  loopIdOf,
  type Output,
  opening,
  own,
  parseHandle,
  type Receipt,
  type State,
  type Step,
  subStepsOf,
  type Task,
  taskListOf,
  tasksIn,
  titleOf,
} from '../../machine/index.ts';
import type { Loaded } from '../../store/index.ts';
import { falseDoneIn, type HistoryEntry } from './false-done.ts';
import type { EvidenceState, GateReport, PositionReport, Report, StepReport, TaskReport } from './report.ts';
import { readHistory } from './report-history.ts';

type RunView = Pick<Loaded, 'run' | 'definition' | 'hash' | 'state'>;

/** A report of a run from its state and its history. Pure; secrets are redacted. */
export const compileReport = (view: RunView, entries: readonly HistoryEntry[]): Report =>
  withoutSecrets(unredactedReport(view, entries));

/** For what is redacted later, with more. */
export function unredactedReport(
  { run, definition, hash, state }: RunView,
  entries: readonly HistoryEntry[],
): Report {
  const ended = endOf(entries, state);
  const merged = mergedIn(entries);
  return {
    run,
    workflow: state.workflow,
    hash,
    summary: state.summary,
    inputs: state.inputs,
    status: state.status,
    reason: reasonOf(state),
    started: timeText(state.createdAt),
    ended: ended === undefined ? undefined : timeText(ended),
    wall_ms: (ended ?? state.updatedAt) - state.createdAt,
    tree: lastGreenTree(entries),
    steps: definition.steps.map((step, index) => stepReport(definition, state, step, index, merged)),
    false_done: falseDoneIn(entries),
    ...readHistory(entries),
    branch: state.branch,
    parked: Object.entries(state.merges ?? {}).flatMap(([task, merge]) =>
      merge.state === 'parked'
        ? [{ task, branch: `stepfast/${run}/task/${task}`, reason: merge.reason ?? '' }]
        : [],
    ),
  };
}

/** The tree of the last gate run that was green; undefined if none was, or the tree was not known. */
export function lastGreenTree(entries: readonly HistoryEntry[]): string | undefined {
  const green = entries
    .flatMap(({ events }) => events)
    .flatMap((event) =>
      (event.type === 'gates.finished' && event.pass) || event.type === 'merge.finished' ? [event] : [],
    );
  return green.findLast(({ tree }) => tree !== undefined)?.tree;
}

const timeText = (now: number): string => new Date(now).toISOString();

function endOf(entries: readonly HistoryEntry[], { status }: State): number | undefined {
  const end = own(endEvents, status);
  return entries.findLast(({ events }) => events.some(({ type }) => type === end))?.now;
}

const endEvents: Record<string, EventType> = {
  complete: 'run.completed',
  failed: 'run.failed',
  cancelled: 'run.cancelled',
};

function reasonOf(state: State): string | undefined {
  const { status, reason, blocked, cursors } = state;
  if (status !== 'waiting') return reason;
  const [usedUp] = allUsedUp(state);
  if (usedUp) return `more budget (${usedUp.unit})`;
  const waiting = Object.values(cursors).flatMap((cursor) => cursor.waiting ?? []);
  const [first] = waiting;
  if (!first) return blocked;
  if (first.kind === 'review') return `review by ${first.by === 'human' ? 'a person' : first.by}`;
  return first.kind === 'question' ? 'an answer' : first.reason;
}

type Commits = ReadonlyMap<string, string>;

/** The commits with which tasks were merged, by loop and task. */
function mergedIn(entries: readonly HistoryEntry[]): Commits {
  const found = new Map<string, string>();
  for (const { events } of entries)
    for (const event of events)
      if (event.type === 'merge.finished') found.set(`${event.loop}/${event.task}`, event.commit);
  return found;
}

function stepReport(
  definition: Definition,
  state: State,
  step: Step,
  index: number,
  merged: Commits,
): StepReport {
  const current = definition.steps.findIndex(({ id }) => id === state.step);
  const skipped = own(state.skipped ?? {}, step.id);
  const positions = positionsOf(definition, state, step);
  const tasks = tasksIn(step.type === 'loop' ? taskListOf(state, step) : undefined).map((task) =>
    taskReport(task, positions, merged.get(`${loopIdOf(step)}/${task.id}`)),
  );
  const passed = state.status === 'complete' || index < current;
  const evidence = skipped
    ? 'skipped'
    : passed
      ? evidenceOf(tasks.length > 0 ? tasks : positions.slice(-1))
      : index === current
        ? state.status === 'failed'
          ? 'failed'
          : 'open'
        : 'not_reached';
  return {
    id: step.id,
    title: titleOf(step),
    evidence,
    tree: lastTree(positions),
    because: skipped?.values,
    positions: step.type === 'loop' ? [] : positions,
    ...(step.type === 'loop' ? { tasks } : {}),
  };
}

/** A gate is about the whole tree, so the last position also decides for those before it. */
function taskReport(
  { id, title, end, reason }: Task,
  all: readonly PositionReport[],
  commit: string | undefined,
): TaskReport {
  const positions = all.filter(({ path }) => path.split('/')[1] === id);
  const evidence = end === undefined ? 'open' : end === 'done' ? evidenceOf(positions.slice(-1)) : end;
  return { id, title, end, reason, evidence, commit, tree: lastTree(positions), positions };
}

const worstFirst: readonly EvidenceState[] = ['failed', 'open', 'unproven', 'unverified', 'proven'];

/** The worst of them counts; what was skipped or dropped does not. */
const evidenceOf = (parts: readonly { evidence: EvidenceState }[]): EvidenceState =>
  worstFirst.find((state) => parts.some(({ evidence }) => evidence === state)) ??
  parts[0]?.evidence ??
  'unverified';

const lastTree = (positions: readonly PositionReport[]): string | undefined =>
  positions.findLast(({ evidence }) => evidence === 'proven')?.tree;

/** In the order in which they were completed. */
function positionsOf(definition: Definition, state: State, step: Step): PositionReport[] {
  const isOf = (key: string): boolean => key === step.id || key.startsWith(`${step.id}.`);
  const done = Object.entries(state.outputs).flatMap(([key, output]) =>
    isOf(key) ? [{ at: output.now, report: positionReport(definition, step, output) }] : [],
  );
  const skipped = Object.entries(state.skipped ?? {}).flatMap(([key, { now }]) =>
    isOf(key) && key !== step.id ? [{ at: now, report: skippedPosition(definition, step, key, now) }] : [],
  );
  return [...done, ...skipped].sort((one, other) => one.at - other.at).map(({ report }) => report);
}

/** A sub-step's title; else the step's. */
function titleAt(definition: Definition, step: Step, path: string): string {
  const [, , subStep] = path.split('/');
  const sub =
    subStep === undefined ? undefined : subStepsOf(definition, step).find(({ id }) => id === subStep);
  return sub ? titleOf(sub) : titleOf(step);
}

function skippedPosition(definition: Definition, step: Step, key: string, now: number): PositionReport {
  // Task ids may contain dots, step ids not.
  const [, task, subStep] = /^[^.]+\.(.+)\.([^.]+)$/.exec(key) ?? [];
  const path = task === undefined ? key.replace('.', '/') : `${step.id}/${task}/${subStep}`;
  return { path, title: titleAt(definition, step, path), evidence: 'skipped', now: timeText(now), gates: [] };
}

function positionReport(definition: Definition, step: Step, output: Output): PositionReport {
  const path = parseHandle(output.at)?.path ?? '';
  const passed = output.receipts.some(({ pass, role }) => pass && role !== 'until');
  return {
    path,
    title: titleAt(definition, step, path),
    evidence: endedUnproven(definition, output) ? 'unproven' : passed ? 'proven' : 'unverified',
    now: timeText(output.now),
    output: opening(output.text).slice(0, maxOutput),
    reviewed: output.reviewed,
    ownWork: output.ownWork,
    tree: output.tree,
    gates: output.receipts.map((receipt) => gateReport(definition, receipt, output.at)),
  };
}

const maxOutput = 2000;

/** `before` is absent in receipts of gates without a baseline. */
type MaybeCompared = Receipt & { before?: 'pass' | 'fail' };

function gateReport(definition: Definition, receipt: MaybeCompared, at: string): GateReport {
  const { what, role, pass, expect, exit, ms, reused, before, reportedBy } = receipt;
  const kind = gateKind(definition, receipt, at);
  return { what, kind, role, pass, expect, exit, ms, reused, before, reportedBy };
}
