import {
  type Cursor,
  type Definition,
  gateText,
  isRunStep,
  own,
  type State,
  type Step,
  stepIndex,
  subStepsOf,
  type Task,
  taskListOf,
  tasksIn,
  titleOf,
} from '../../machine/index.ts';
import type { Report, StepReport } from '../report/report.ts';
import { needsFreshContext } from '../summary/find-needs.ts';
import type { StepPage, StepTone, TaskPage } from './pages.ts';

/** The steps of the workflow with what became of them, and the tasks of loops. */
export function stepPages(definition: Definition, state: State, { steps }: Report): StepPage[] {
  return definition.steps.map((step, index) => stepPage(definition, state, step, steps[index]));
}

function stepPage(
  definition: Definition,
  state: State,
  step: Step,
  report: StepReport | undefined,
): StepPage {
  const { id, type, context, instructions, gate = [], until = [], review } = step;
  const last = report?.positions.at(-1);
  const rounds = type === 'ralph' ? report?.positions.length : undefined;
  return {
    id,
    title: titleOf(step),
    type: isRunStep(step) ? 'run' : type,
    tone: stepTone(definition, state, step),
    ...(context === undefined ? {} : { context }),
    ...(instructions === undefined ? {} : { instructions: instructions.slice(0, maxInstructions) }),
    gates: [...gate, ...until].map(gateText),
    ...(review === undefined ? {} : { review: review.by }),
    ...(last?.output === undefined ? {} : { output: last.output }),
    evidence: report?.evidence ?? 'not_reached',
    ...(rounds === undefined ? {} : { rounds }),
    ...(type === 'loop' ? { tasks: taskPages(definition, state, step) } : {}),
  };
}

/** Instructions are texts of people; one page has those of all steps. */
const maxInstructions = 4000;
/** A run can have a thousand tasks. */
const maxDescription = 600;

function stepTone(definition: Definition, state: State, step: Step): StepTone {
  if (own(state.skipped ?? {}, step.id)) return 'skipped';
  const [index, current] = [stepIndex(definition, step.id), stepIndex(definition, state.step)];
  if (state.status === 'complete' || index < current) return 'done';
  if (index > current) return 'ahead';
  if (state.status === 'failed' || state.status === 'cancelled') return 'failed';
  const cursors = Object.values(state.cursors);
  if (cursors.some((cursor) => isWaiting(state, cursor))) return 'person';
  return cursors.some(isRed) ? 'red' : 'open';
}

const isWaiting = (state: State, cursor: Cursor): boolean =>
  cursor.waiting
    ? cursor.waiting.kind !== 'review' || cursor.waiting.by === 'human'
    : needsFreshContext(state, cursor);
const isRed = ({ receipts = [] }: Cursor): boolean => receipts.some(({ pass }) => !pass);

function taskPages(definition: Definition, state: State, step: Step): TaskPage[] {
  const subSteps = subStepsOf(definition, step);
  const isCurrent = step.id === state.step;
  return tasksIn(taskListOf(state, step)).map((task) => {
    const cursor = isCurrent ? Object.values(state.cursors).find((each) => each.task === task.id) : undefined;
    const merge = isCurrent ? state.merges?.[task.id]?.state : undefined;
    const { id, title, description, end, depends_on: dependsOn = [] } = task;
    return {
      id,
      title,
      ...(description === undefined ? {} : { description: description.slice(0, maxDescription) }),
      tone: taskTone(state, task, cursor, merge),
      dependsOn,
      ...(end === undefined ? {} : { end }),
      ...(cursor?.lease === undefined ? {} : { holder: cursor.lease.holder }),
      ...(cursor?.subStep === undefined ? {} : { at: cursor.subStep }),
      ...(merge === undefined ? {} : { merge }),
      subSteps: subSteps.map((sub) => ({
        id: sub.id,
        title: titleOf(sub),
        tone: subStepTone(
          state,
          `${step.id}.${id}.${sub.id}`,
          cursor?.subStep === sub.id ? cursor : undefined,
        ),
      })),
    };
  });
}

function taskTone(
  state: State,
  { end }: Task,
  cursor: Cursor | undefined,
  merge: TaskPage['merge'],
): StepTone {
  if (end !== undefined) return end;
  if (merge === 'parked') return 'person';
  if (!cursor) return merge === undefined ? 'ahead' : 'open';
  return cursorTone(state, cursor);
}

const cursorTone = (state: State, cursor: Cursor): StepTone =>
  isWaiting(state, cursor) ? 'person' : isRed(cursor) ? 'red' : 'open';

function subStepTone(state: State, key: string, cursor: Cursor | undefined): StepTone {
  if (cursor) return cursorTone(state, cursor);
  if (own(state.outputs, key)) return 'done';
  return own(state.skipped ?? {}, key) ? 'skipped' : 'ahead';
}
