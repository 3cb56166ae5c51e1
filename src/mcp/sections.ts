import {
  type Cursor,
  type Definition,
  instructionsFor,
  opening,
  type Receipt,
  type State,
  statusOf,
} from '../machine/index.ts';
import { nextCall } from './next-call.ts';
import { taskStates } from './task-states.ts';
import { firstWithin } from './token-estimate.ts';
import type { sectionNames } from './tools.ts';

export type SectionName = (typeof sectionNames)[number];

export interface SectionSource {
  definition: Definition;
  state: State;
  cursor?: Cursor;
  values: Record<string, string>;
  /** Who asks. */
  session?: string;
  /** Where the files of the position's task are. */
  worktree?: string;
  /** Whole texts, where their section is asked for. */
  todo?: string;
  outputs?: Record<string, string>;
}

const mostTokens = 15_000;
const mostTasks = 100;
const mostOpening = 300;
/** The to-do list and the outputs are told on demand. */
const standard: readonly SectionName[] = [
  'status',
  'instructions',
  'notes',
  'done',
  'reading',
  'artifacts',
  'tasks',
];

/** The run as plain text, in facts. Same input, same text. */
export function contextText(
  source: SectionSource,
  { section, artifacts }: { section?: SectionName; artifacts?: readonly string[] } = {},
): string {
  const names = section === undefined ? (artifacts ? (['artifacts'] as const) : standard) : [section];
  const parts = names.map((name) => sections[name](source, artifacts)).filter((part) => part !== '');
  if (section === undefined && !artifacts) parts.push(onDemand(source));
  const text = parts.filter((part) => part !== '').join('\n\n');
  const kept = text.length < mostTokens ? text : firstWithin(text, mostTokens);
  if (text === '') return `This run has nothing under '${section ?? 'artifacts'}'.`;
  return kept === text ? text : `${kept}\n\nThe text was cut here: ask for one section.`;
}

const sections: Record<SectionName, (source: SectionSource, artifacts?: readonly string[]) => string> = {
  status: statusSection,
  instructions: ({ definition, state, cursor, values }) => {
    const text = cursor ? instructionsFor(definition, state, cursor, values) : '';
    return titled('INSTRUCTIONS', [text]);
  },
  notes: notesSection,
  done: doneSection,
  reading: ({ definition, state }) =>
    titled('REQUIRED READING', (definition.required_reading ?? []).map(readingLine(state))),
  artifacts: artifactsSection,
  tasks: tasksSection,
  todo: ({ todo, state }) => titled('TO-DO LIST', [todo ?? opening(state.todo ?? '')]),
  outputs: ({ outputs, state }) =>
    Object.entries(state.outputs)
      .map(([key, { text }]) => titled(`OUTPUT ${key}`, [outputs?.[key] ?? opening(text)]))
      .join('\n\n'),
};

function statusSection(source: SectionSource): string {
  const { definition, state, cursor, values, worktree, session = '' } = source;
  const status = statusOf(definition, state, { cursor, values, session });
  const next = nextCall(status, { session, view: source });
  const { phase, task, ralphIteration, ralphTotal, waiting, contextAction } = status;
  const summary = state.summary === undefined ? '' : `: ${state.summary}`;
  const where = [
    `phase ${phase.current}/${phase.total} '${phase.name}'`,
    ...(task ? [`task ${task.index + 1}/${task.total} '${task.title}'`] : []),
    ...(status.subStep === undefined ? [] : [`sub-step '${status.subStep}'`]),
    ...(ralphIteration === undefined ? [] : [`iteration ${ralphIteration}/${ralphTotal}`]),
  ];
  const lines = [
    `Workflow '${state.workflow}'${summary}.`,
    `Run ${state.run} is ${state.status}, ${where.join(', ')}.`,
    ...(status.at === undefined ? [] : [`The handle of this position is ${status.at}.`]),
    ...(worktree === undefined ? [] : [`The files of its task are in ${worktree}.`]),
    ...(status.agent === null ? [] : [`The position is for the agent '${status.agent}'.`]),
    ...(contextAction === undefined ? [] : [`The position opens with ${contextAction}. ${status.message}`]),
    ...(waiting ? [`It waits for a ${waiting.for} by ${waiting.by}: ${waiting.what}`] : []),
    ...(status.checking ? ['Its gates are running.'] : []),
    ...(status.feedback === undefined ? [] : [status.feedback]),
    ...(status.last_failure === undefined ? [] : [`The visit before failed: ${status.last_failure}`]),
    ...(status.failed_gates ?? []).map(failedGate),
    ...(status.unstable_files ? [`The gates kept changing ${status.unstable_files.join(', ')}.`] : []),
    ...(status.held ?? []).map(({ task: held, holder }) => `Task ${held} is held by ${holder ?? 'nobody'}.`),
    ...(status.ready?.length ? [`Ready to be claimed: ${status.ready.join(', ')}.`] : []),
    `ACTION REQUIRED: ${next}`,
  ];
  return titled('RUN', lines);
}

const failedGate = ({ what, exit, tail }: Receipt): string => {
  const result = `The gate '${what}' failed${exit === undefined ? '' : ` with exit ${exit}`}.`;
  return tail === undefined || tail.trim() === ''
    ? result
    : `${result} Its output ends with:\n${tail.trimEnd()}`;
};

function notesSection({ definition, state }: SectionSource): string {
  const { pivots, questions } = state;
  const notes = state.notes.map(({ id, kind, text, key }) => `- ${kind} ${key ?? id}: ${text}`);
  const asked = questions.map(({ text, answer }) => `- question: ${text}\n  answer: ${answer ?? 'none yet'}`);
  const variables = { ...definition.variables, ...state.variables };
  const parts = [
    titled('NOTES', notes),
    titled(
      'PIVOTS',
      pivots.map(({ tag, feedback }) => `**[${tag}]:** "${feedback}"`),
    ),
    titled('QUESTIONS', asked),
    titled(
      'KEY REMINDERS',
      (definition.key_reminders ?? []).map((line) => `- ${line}`),
    ),
    titled(
      'CONTEXT VARIABLES',
      Object.entries(variables).map(([key, value]) => `- ${key}: ${value}`),
    ),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function doneSection({ state }: SectionSource): string {
  const lines = Object.entries(state.outputs).map(([key, { text, receipts, reviewed }]) => {
    const passed = receipts.filter(({ pass, role }) => pass && role !== 'until').map(({ what }) => what);
    const evidence = passed.length > 0 ? `passed ${passed.join(', ')}` : 'unverified';
    const said = opening(text).slice(0, mostOpening).trim().replaceAll('\n', ' ');
    return `- ${key} (${evidence}${reviewed === undefined ? '' : `, approved by ${reviewed}`}): ${said}`;
  });
  const files = state.artefacts.map((path) => `- artefact ${path}`);
  return titled('DONE', [...lines, ...files]);
}

const readingLine =
  ({ reading }: State) =>
  (path: string): string => {
    const key = `{project_root}/${path.replace(/^@/, '').replace(/^\{project_root\}\/?/, '')}`;
    return `- ${path} (${Object.hasOwn(reading, key) ? 'read' : 'not yet read'})`;
  };

function artifactsSection({ definition }: SectionSource, wanted?: readonly string[]): string {
  const { always_load = [], conditional_load = [] } = definition.critical_artifacts ?? {};
  const all = [...always_load, ...conditional_load].filter(({ id }) => !wanted || wanted.includes(id));
  const lines = all.map(({ id, path, path_from_state, command, description, required }) => {
    const from = path ?? command ?? (path_from_state === undefined ? '' : `state: ${path_from_state}`);
    return `- ${id}${required ? ' (required)' : ''}: ${description ?? id}${from === '' ? '' : `, ${from}`}`;
  });
  return titled('CRITICAL ARTIFACTS', lines);
}

function tasksSection({ definition, state }: SectionSource): string {
  const lines = Object.entries(state.tasks).flatMap(([loop, { order, byId }]) => {
    const done = order.filter((id) => byId[id]?.end === 'done').length;
    // What is open comes first: what has ended is the longer part of a long list.
    const open = order.filter((id) => byId[id]?.end === undefined);
    const shown = [...open, ...order.filter((id) => byId[id]?.end !== undefined)].slice(0, mostTasks);
    const more = order.length - shown.length;
    const states = taskStates(definition, state, loop);
    return [
      `${loop}: ${done} of ${order.length} done`,
      ...shown.map((id) => `- ${id} (${states.get(id)}): ${byId[id]?.title ?? ''}`),
      ...(more > 0 ? [`- and ${more} more`] : []),
    ];
  });
  return titled('TASKS', lines);
}

function onDemand({ state }: SectionSource): string {
  const kept = [
    ...(state.todo === undefined ? [] : ['todo (the to-do list)']),
    ...(Object.keys(state.outputs).length > 0 ? ['outputs (in full)'] : []),
  ];
  return kept.length === 0 ? '' : `Further sections of workflow_context: ${kept.join(', ')}.`;
}

function titled(title: string, lines: readonly string[]): string {
  const text = lines.filter((line) => line !== '').join('\n');
  return text === '' ? '' : `${title}\n${text.trimEnd()}`;
}
