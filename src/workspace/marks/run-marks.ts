import { gatesOf } from '../../definition/index.ts';
import { type Definition, ended, hasBudget, type State, startsCommands } from '../../machine/index.ts';
import { isRunId, type Loaded } from '../../store/index.ts';
import { createMarks, type Marks } from './marks.ts';

const prefix = 'run.';

/** The events that every live run needs. */
const always = [
  'session_start',
  'start_wake',
  'session_end',
  'prompt',
  'before_compact',
  'stop',
  'subagent_start',
  'subagent_stop',
  'before_tool-agent',
  'before_tool-schedule',
  'after_tool-stepfast',
  'after_tool-write',
];

/** The marks of a run. Tool events are marked only if the workflow needs them. */
export function marksFor(definition: Definition): string[] {
  const { agents = {}, steps, loops = {}, required_reading = [], stop } = definition;
  const work = [...steps, ...Object.values(loops).flat()];
  const forbids = Object.values(agents).some(({ tools, cannot = [] }) => tools || cannot.length > 0);
  const reads = required_reading.length > 0 || work.flatMap(gatesOf).some(({ read }) => read);
  return [
    ...always,
    ...(forbids ? ['before_tool'] : []),
    ...(reads ? ['after_tool-read'] : []),
    ...(stop === 'check' || startsCommands(definition) ? ['stop_wake'] : []),
  ];
}

/** Idempotent; removes the marks of an ended run. */
export function markRun(marks: Marks, run: string, definition: Definition, state?: State): void {
  const reads = state && ((state.adopted?.reading ?? []).length > 0 || state.notes.some(isReading));
  // A driver ends a turn whose budget is used up, so every tool tells what was spent.
  const counts = state?.driver && !state.driver.released && hasBudget(definition);
  const more = [...(reads || counts ? ['after_tool-read'] : []), ...(counts ? ['after_tool-shell'] : [])];
  if (state && ended(state)) marks.drop(`${prefix}${run}`);
  else marks.want(`${prefix}${run}`, [...new Set([...marksFor(definition), ...more])]);
}

export const unmarkRun = (marks: Marks, run: string): void => marks.drop(`${prefix}${run}`);

/** The runs with marks: the live ones, and possibly some that ended without notice. */
export const markedRuns = (marks: Marks): string[] =>
  marks
    .reasons()
    .filter((reason) => reason.startsWith(prefix))
    .map((reason) => reason.slice(prefix.length))
    .filter(isRunId);

const isReading = ({ kind }: State['notes'][number]): boolean => kind === 'reading';

/** Like `markRun`, but ignores errors. */
export function markIfPossible(directory: string, { run, definition, state }: Loaded): void {
  try {
    markRun(createMarks(directory), run, definition, state);
  } catch {
    // `renewMarks` writes them again.
  }
}
